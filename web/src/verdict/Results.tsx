import "./Results.css";

import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Frame, OwnTestsCard, ProblemPage } from "../api/types";
import { Charts } from "../charts/Charts";
import { isExample, isScratch, type JudgingView } from "../judging/view";
import { GradedTests } from "../mutation/GradedTests";
import { counted, percent } from "../parts/amounts";
import { goToCheck } from "../parts/checkPlace";
import { VERDICTS } from "../parts/verdicts";
import { Announcer } from "./Announcer";
import { Frames } from "./Frames";
import { Headline } from "./Headline";
import { Printed } from "./Printed";
import { isFailing, shownTier } from "./selection";
import { TierPanel } from "./TierPanel";
import { TierRail } from "./TierRail";
import { afterwards, checkCounts } from "./words";

/** A check that was asked for elsewhere, in a tier of the submission that is shown. */
export interface AskedCheck {
  submission: string | null;
  tier: string;
  check: string;
}

interface ResultsProps {
  problem: ProblemPage;
  view: JudgingView | null;
  /** Another object each time one is asked for. */
  asked: AskedCheck | null;
  onReveal: (frame: Frame) => void;
  /** Go to what is open once the exercise is solved. */
  onSolution: () => void;
  /** Which text the results are about. */
  children?: ComponentChildren;
}

/** The results pane: tier rail, the checks of a tier, hints, printed output, charts. */
export function Results(props: ResultsProps) {
  const { problem, view, asked, onReveal, onSolution, children } = props;
  return (
    <section class={`results ${view?.kind === "run" ? "results-run" : ""}`} aria-label="Results">
      <Announcer view={view} />
      {view === null && <Nothing problem={problem} />}
      {view && <Headline view={view}>{children}</Headline>}
      {view && isScratch(view) && <Scratch view={view} onReveal={onReveal} />}
      {view && isJudged(view) && view.kind === "tests" && (
        <>
          <GradedTests view={view} onReveal={onReveal}>
            <Afterwards problem={problem} view={view} onSolution={onSolution} />
          </GradedTests>
          <Rest problem={problem} view={view} />
        </>
      )}
      {view && isJudged(view) && view.kind !== "tests" && (
        <Judged problem={problem} view={view} asked={asked} onReveal={onReveal}>
          <Afterwards problem={problem} view={view} onSolution={onSolution} />
        </Judged>
      )}
    </section>
  );
}

/** Whether there are checks to show, or will be. */
const isJudged = (view: JudgingView): boolean => view.phase !== "refused" && !isScratch(view);

/** Before the first submission. */
function Nothing({ problem }: { problem: ProblemPage }) {
  const counts = checkCounts(problem);
  return (
    <dl class="results-nothing">
      <div>
        <dt>Run</dt>
        <dd>
          tries the examples{counts && `, ${counts.run} of ${counted(counts.submit, "check")}`}. It
          is not kept in your history.
        </dd>
      </div>
      <div>
        <dt>Submit</dt>
        <dd>
          judges all {counted(problem.tiers.length, "tier")}
          {counts && `, ${counted(counts.submit, "check")}`}. It is kept in your history.
        </dd>
      </div>
      {problem.own_tests && (
        <div>
          <dt>Grade tests</dt>
          <dd>{gradingWords(problem.own_tests)}</dd>
        </div>
      )}
    </dl>
  );
}

function gradingWords({ mutants, threshold, must_kill: mustKill }: OwnTestsCard): string {
  const pitfalls = mustKill > 0 ? `, among them ${counted(mustKill, "pitfall")}` : "";
  return (
    "runs your own tests on right solutions, where all of them have to pass, and on " +
    `${counted(mutants, "wrong one")}: at least ${percent(threshold)} have to be noticed` +
    `${pitfalls}. It is kept in your history.`
  );
}

/**
 * What an accepted submission opens. Where an exercise takes tests too, one of the two alone does
 * not solve it. It stands below what is looked at while judging goes on, which so stays in its place.
 */
function Afterwards({
  problem,
  view,
  onSolution,
}: Pick<ResultsProps, "problem" | "onSolution"> & { view: JudgingView }) {
  switch (afterwards(problem, view)) {
    case null:
      return null;
    case "unknown":
      // Its place is kept.
      return <p class="results-note" />;
    case "tests":
      return (
        <p class="results-note">The exercise is solved when your own tests are accepted as well.</p>
      );
    case "solution":
      return (
        <p class="results-note">The exercise is solved once a submission is accepted as well.</p>
      );
    case "opened":
      return (
        <p class="results-note">
          The editorial and the reference are open now.{" "}
          <button type="button" class="link" onClick={onSolution}>
            Read them
          </button>
        </p>
      );
  }
}

interface JudgedProps {
  problem: ProblemPage;
  view: JudgingView;
  asked: AskedCheck | null;
  onReveal: (frame: Frame) => void;
  /** What follows from it. */
  children: ComponentChildren;
}

function Judged({ problem, view, asked, onReveal, children }: JudgedProps) {
  // A choice holds for the submission it was made at.
  const [choice, setChoice] = useState<{ submission: string | null; tier: string } | null>(null);
  const isChosen = choice !== null && choice.submission === view.id;
  const tier = shownTier(view, isChosen ? choice.tier : null);
  const box = useRef<HTMLDivElement>(null);
  const answered = useRef<AskedCheck | null>(null);
  useEffect(() => {
    if (asked !== null) setChoice(asked);
  }, [asked]);
  useEffect(() => {
    if (asked === null || answered.current === asked || tier?.id !== asked.tier) return;
    answered.current = asked;
    if (box.current) goToCheck(box.current, asked.check);
  }, [asked, tier?.id]);
  // Of what is accepted there is nothing to mend, unless somebody asks for a tier.
  const isChartFirst = view.kind === "submit" && view.verdict === "AC" && !isChosen;
  const charts = <ChartsOf key="charts" problem={problem} view={view} />;
  return (
    <div ref={box}>
      {tier && (
        <TierRail
          key="rail"
          view={view}
          shown={tier.id}
          onChoose={(chosen) => {
            setChoice({ submission: view.id, tier: chosen });
          }}
        />
      )}
      <Fragment key="afterwards">{children}</Fragment>
      {isChartFirst && charts}
      {tier && (
        <TierPanel key="panel" problem={problem} view={view} tier={tier} onReveal={onReveal} />
      )}
      {view.output?.text && <Printed key="printed" output={view.output} />}
      {!isChartFirst && charts}
      <Circumstances key="circumstances" view={view} />
    </div>
  );
}

type Whole = Pick<JudgedProps, "problem" | "view">;

/** What belongs to the submission as a whole. */
function Rest({ problem, view }: Whole) {
  return (
    <>
      {view.output?.text && <Printed output={view.output} />}
      <ChartsOf problem={problem} view={view} />
      <Circumstances view={view} />
    </>
  );
}

function ChartsOf({ problem, view }: Whole) {
  if (view.charts.length === 0) return null;
  // The charts of one's own tests are of another experiment than those of the solution.
  const reference = view.kind === "tests" ? [] : problem.preview.charts;
  return (
    <section class="results-charts">
      <h3>Charts</h3>
      <Charts
        reference={reference}
        submission={view.charts}
        isOutdated={view.problemVersion !== null && view.problemVersion !== problem.version}
      />
    </section>
  );
}

/** Where it was judged, and with which numbers. */
function Circumstances({ view }: { view: JudgingView }) {
  const { environment, seed } = view;
  if (!environment || seed === null) return null;
  return (
    <p class="results-circumstances">
      Judged with torch {environment.torch} and numpy {environment.numpy}, sandbox{" "}
      {environment.sandbox}, seed {seed}.
    </p>
  );
}

/** A scratch run has no checks: what it printed, and where it was stopped. */
function Scratch({ view, onReveal }: Pick<JudgedProps, "view" | "onReveal">) {
  const stops = view.tiers
    .flatMap((tier) => tier.checks)
    .filter((check) => isFailing(check.verdict));
  return (
    <>
      {stops.map((stop) => (
        <div key={stop.id} class="results-stop">
          <p>{stop.message || VERDICTS[stop.verdict].words}</p>
          <Frames
            frames={stop.detail?.frames ?? []}
            isExample={isExample(view)}
            onReveal={onReveal}
          />
        </div>
      ))}
      {view.output && <Printed output={view.output} />}
    </>
  );
}
