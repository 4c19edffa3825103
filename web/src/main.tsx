import "./style/tokens.css";
import "./style/base.css";
import "./style/page.css";

import { render } from "preact";
import { lazy, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { useMemo, useRef } from "preact/hooks";

import { CataloguePage } from "./catalogue/CataloguePage";
import { Boundary, Failure } from "./parts/Boundary";
import { Header } from "./parts/Header";
import { focusHeading } from "./parts/heading";
import type { KeysHandle } from "./parts/KeysDialog";
import { loadedOr } from "./parts/loading";
import { OfflineBanner } from "./parts/OfflineBanner";
import { usePlace } from "./parts/place";
import { useShortcuts } from "./parts/shortcuts";
import { followOtherTabs } from "./parts/theme";

const ExercisePage = lazy(() =>
  loadedOr(
    import("./exercise/ExercisePage").then((part) => part.ExercisePage),
    () => <Failure what="Loading this page" />,
  ),
);

function AllExercises() {
  return <CataloguePage track={null} />;
}

function Track({ params }: { params: { id: string } }) {
  return <CataloguePage track={params.id} />;
}

function Exercise({ params }: { params: { slug: string } }) {
  return <ExercisePage key={params.slug} slug={params.slug} />;
}

function NotFound() {
  usePlace(useMemo(() => ({ title: "Not found", trail: [], previous: null, next: null }), []));
  return (
    <div class="page-words">
      <h1>There is nothing at this address</h1>
      <p>It may have been renamed, or mistyped.</p>
      <a href="/">All exercises</a>
    </div>
  );
}

function Routes() {
  const { path } = useLocation();
  const main = useRef<HTMLElement>(null);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <Boundary what="This page" of={path}>
        <Router
          onRouteChange={() => {
            if (main.current) focusHeading(main.current);
          }}
        >
          <Route path="/" component={AllExercises} />
          <Route path="/tracks/:id" component={Track} />
          <Route path="/problems/:slug" component={Exercise} />
          <Route default component={NotFound} />
        </Router>
      </Boundary>
    </main>
  );
}

function App() {
  const keys = useRef<KeysHandle>(null);
  useShortcuts({
    "?": () => {
      keys.current?.open();
    },
  });
  return (
    <LocationProvider>
      <Header keys={keys} />
      <OfflineBanner />
      <Routes />
    </LocationProvider>
  );
}

followOtherTabs();
const page = document.getElementById("page");
if (page) render(<App />, page);
