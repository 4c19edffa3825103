import "./HintsTab.css";

import { useState } from "preact/hooks";

import type { ProblemPage, Solution } from "../api/types";
import { Statement, StatementTitle } from "../exercise/Statement";
import { useNow } from "../parts/Ago";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { relative } from "../parts/time";
import { Comparison } from "./Comparison";
import { Revealing } from "./Revealing";
import { useSolution, type Opened } from "./useSolution";

/** Hints, revealed one by one; after solving, the editorial and the reference. */
export function HintsTab({ problem, finished }: { problem: ProblemPage; finished: number }) {
  return (
    <div class="hints">
      <Hints problem={problem} />
      <Solved problem={problem} finished={finished} />
    </div>
  );
}

function Hints({ problem: { slug, hints } }: { problem: ProblemPage }) {
  const count = hints.length;
  return (
    <section aria-labelledby="hints-title">
      <h2 id="hints-title">Hints</h2>
      <p class="quiet">{hintsWords(count)}</p>
      <Revealing
        help="hints"
        slug={slug}
        count={count}
        next={(index) => `Show hint ${index + 1} of ${count}`}
      >
        {(index) => (
          <p>
            <Coded text={hints[index] ?? ""} />
          </p>
        )}
      </Revealing>
    </section>
  );
}

function hintsWords(count: number): string {
  if (count === 0) return "This exercise has no hints.";
  if (count === 1) return "There is one hint.";
  return `There are ${count} hints. Each says a little more than the one before.`;
}

function Solved({ problem, finished }: { problem: ProblemPage; finished: number }) {
  const { value, trouble, reload } = useSolution(problem, finished);
  if (value?.solution) {
    return (
      <>
        <Editorial slug={problem.slug} steps={value.solution.editorial} />
        <Reference solution={value.solution} accepted={value.accepted} />
      </>
    );
  }
  if (value !== null || problem.progress.state !== "solved") return <Locked />;
  if (trouble === null) {
    return (
      <p class="hints-waiting quiet" role="status">
        The editorial and the reference are on their way.
      </p>
    );
  }
  return (
    <div class="hints-trouble" role="alert">
      <p>{trouble}</p>
      <button type="button" class="button" onClick={reload}>
        Try again
      </button>
    </div>
  );
}

function Locked() {
  return (
    <section class="hints-locked" aria-labelledby="hints-locked-title">
      <h2 id="hints-locked-title">
        <Icon name="lock" />
        Editorial and reference
      </h2>
      <p class="quiet">
        They open when a submission of yours is accepted: a walk through the solution, step by step,
        and the reference beside your own code.
      </p>
    </section>
  );
}

function Editorial({ slug, steps }: { slug: string; steps: Solution["editorial"] }) {
  if (steps.length === 0) return null;
  return (
    <section aria-labelledby="hints-editorial-title">
      <h2 id="hints-editorial-title">Editorial</h2>
      <p class="quiet">
        {steps.length === 1 ? "One step." : `${steps.length} steps, to be read one by one.`}
      </p>
      <Revealing
        help="editorial"
        slug={slug}
        count={steps.length}
        next={(index) => (
          <span>
            Read step {index + 1} of {steps.length}
            {steps[index]?.title_html && (
              <>
                : <StatementTitle html={steps[index].title_html} />
              </>
            )}
          </span>
        )}
      >
        {(index) => steps[index] && <Step step={steps[index]} />}
      </Revealing>
    </section>
  );
}

function Step({ step: { title_html: title, html } }: { step: Solution["editorial"][number] }) {
  return (
    <>
      {title !== "" && (
        <h3>
          <StatementTitle html={title} />
        </h3>
      )}
      {html !== "" && <Statement html={html} />}
    </>
  );
}

function Reference({ solution, accepted }: { solution: Solution; accepted: Opened["accepted"] }) {
  const nowMs = useNow();
  const [open, setOpen] = useState(false);
  return (
    <section aria-labelledby="hints-reference-title">
      <h2 id="hints-reference-title">Reference</h2>
      <p class="quiet">The clearest correct solution we know. There are other right ways.</p>
      {accepted && (
        <button
          type="button"
          class="button"
          onClick={() => {
            setOpen(true);
          }}
        >
          Show it beside your accepted code
        </button>
      )}
      {Object.entries(solution.files).map(([name, source]) => (
        <details key={name} class="hints-source">
          <summary>{name}</summary>
          <pre tabIndex={0}>
            <code>{source}</code>
          </pre>
        </details>
      ))}
      {open && accepted && (
        <Comparison
          left={{
            title: `Yours, accepted ${relative(Date.parse(accepted.entry.created_at), nowMs)}`,
            files: accepted.files,
          }}
          right={{ title: "The reference", files: solution.files }}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </section>
  );
}
