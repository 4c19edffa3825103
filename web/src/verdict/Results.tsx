import "./Results.css";

import { useState } from "preact/hooks";

import type { Frame, ProblemPage } from "../api/types";
import { Charts } from "../charts/Charts";
import { isScratch, type JudgingView } from "../judging/view";
import { counted } from "../parts/amounts";
import { VERDICTS } from "../parts/verdicts";
import { Announcer } from "./Announcer";
import { Frames } from "./Frames";
import { Headline } from "./Headline";
import { Printed } from "./Printed";
import { isFailing, shownTier } from "./selection";
import { TierPanel } from "./TierPanel";
import { TierRail } from "./TierRail";
import { checkCounts } from "./words";

interface ResultsProps {
  problem: ProblemPage;
  view: JudgingView | null;
  onReveal: (frame: Frame) => void;
}

/** The results pane: tier rail, the checks of a tier, hints, printed output, charts. */
export function Results({ problem, view, onReveal }: ResultsProps) {
  return (
    <section class={`results ${view?.kind === "run" ? "results-run" : ""}`} aria-label="Results">
      <Announcer view={view} />
      {view === null && <Nothing problem={problem} />}
      {view && <Headline view={view} />}
      {view && isScratch(view) && <Scratch view={view} onReveal={onReveal} />}
      {view && !isScratch(view) && <Judged problem={problem} view={view} onReveal={onReveal} />}
    </section>
  );
}

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
    </dl>
  );
}

interface JudgedProps {
  problem: ProblemPage;
  view: JudgingView;
  onReveal: (frame: Frame) => void;
}

function Judged({ problem, view, onReveal }: JudgedProps) {
  // A choice holds for the submission it was made at.
  const [choice, setChoice] = useState<{ submission: string | null; tier: string } | null>(null);
  const tier = shownTier(view, choice?.submission === view.id ? choice.tier : null);
  return (
    <>
      {tier && (
        <TierRail
          view={view}
          shown={tier.id}
          onChoose={(chosen) => {
            setChoice({ submission: view.id, tier: chosen });
          }}
        />
      )}
      {tier && <TierPanel problem={problem} view={view} tier={tier} onReveal={onReveal} />}
      {view.output?.text && <Printed output={view.output} />}
      {view.charts.length > 0 && (
        <section class="results-charts">
          <h3>Charts</h3>
          <Charts reference={problem.preview.charts} submission={view.charts} />
        </section>
      )}
      <Circumstances view={view} />
    </>
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
function Scratch({ view, onReveal }: Omit<JudgedProps, "problem">) {
  const stops = view.tiers
    .flatMap((tier) => tier.checks)
    .filter((check) => isFailing(check.verdict));
  return (
    <>
      {stops.map((stop) => (
        <div key={stop.id} class="results-stop">
          <p>{stop.message || VERDICTS[stop.verdict].words}</p>
          <Frames frames={stop.detail?.frames ?? []} onReveal={onReveal} />
        </div>
      ))}
      {view.output && <Printed output={view.output} />}
    </>
  );
}
