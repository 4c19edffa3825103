import "./Examples.css";

import { useEffect, useState } from "preact/hooks";

import type { Frame, RunnableExample } from "../api/types";
import { PythonCode } from "../exercise/PythonCode";
import { Statement } from "../exercise/Statement";
import type { JudgingView } from "../judging/view";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { Frames } from "../verdict/Frames";
import { comparedLines, type Line } from "./compare";
import { type ExampleRun, runOf } from "./runs";

interface Props {
  examples: readonly RunnableExample[];
  /** The newest submission or run: it may be one of these examples. */
  view: JudgingView | null;
  busy: boolean;
  /** Run this code after the student's own. */
  onRun: (code: string) => void;
  onReveal: (frame: Frame) => void;
}

/** Lines to run after one's own code, with what they should print and why. */
export function Examples({ examples, ...rest }: Props) {
  if (examples.length === 0) return null;
  return (
    <section class="examples" aria-labelledby="examples-title">
      <h2 id="examples-title">{examples.length === 1 ? "Example" : "Examples"}</h2>
      {examples.map((example) => (
        <Example key={example.title} example={example} {...rest} />
      ))}
    </section>
  );
}

interface ExampleProps extends Omit<Props, "examples"> {
  example: RunnableExample;
}

function Example({ example, view, busy, onRun, onReveal }: ExampleProps) {
  const run = useNewestRun(view, example.code);
  return (
    <article class="example">
      <header class="example-head">
        <h3>
          <Coded text={example.title} />
        </h3>
        <button
          type="button"
          class="button"
          aria-disabled={busy}
          aria-label={`Run the example: ${example.title}`}
          title="Run these lines after your code; it is not kept in your history"
          onClick={() => {
            if (!busy) onRun(example.code);
          }}
        >
          <Icon name="play" /> Run
        </button>
      </header>
      <PythonCode source={example.code.trimEnd()} label={`Code of ${example.title}`} />
      <Printed example={example} run={run} />
      {run?.state === "finished" && run.fault && (
        <div class="example-fault">
          <p>{run.fault.words}</p>
          <Frames frames={run.fault.frames} isExample onReveal={onReveal} />
        </div>
      )}
      {example.reasoning_html !== "" && (
        <div class="example-reasoning">
          <Statement html={example.reasoning_html} />
        </div>
      )}
    </article>
  );
}

/** It stays when something else is run or submitted afterwards. */
function useNewestRun(view: JudgingView | null, code: string): ExampleRun | null {
  const [kept, setKept] = useState<ExampleRun | null>(null);
  const now = runOf(view, code);
  const isOver = now !== null && now.state !== "running";
  useEffect(() => {
    if (isOver) setKept(runOf(view, code));
  }, [view, code, isOver]);
  return now ?? kept;
}

function Printed({ example, run }: { example: RunnableExample; run: ExampleRun | null }) {
  if (run?.state !== "finished") {
    return (
      <div class="example-sides">
        <Side title="Prints" lines={comparedLines(example.output, "")} side="expected" isPlain />
        <p class="example-note" role="status">
          {run?.state === "running" && (
            <>
              <Icon name="running" /> Running your code, then these lines.
            </>
          )}
          {run?.state === "halted" && run.words}
        </p>
      </div>
    );
  }
  const lines = comparedLines(example.output, run.printed);
  const isSame = run.fault === null && lines.every((line) => line.isSame);
  return (
    <>
      <div class="example-sides is-compared">
        <Side title="Should print" lines={lines} side="expected" />
        <Side title="Yours printed" lines={lines} side="got" />
      </div>
      <p class={`example-outcome ${isSame ? "is-same" : "is-other"}`} role="status">
        <Icon name={isSame ? "pass" : "fail"} />
        {outcomeWords(lines, isSame)}
      </p>
    </>
  );
}

function outcomeWords(lines: readonly Line[], isSame: boolean): string {
  if (isSame) return "Same output";
  const count = lines.filter((line) => !line.isSame).length;
  if (count === 0) return "Same output, and then it was stopped";
  return count === 1 ? "One line differs" : `${count} lines differ`;
}

interface SideProps {
  title: string;
  lines: readonly Line[];
  side: "expected" | "got";
  /** There is nothing to compare with. */
  isPlain?: boolean;
}

/** A line that differs has a sign and words for whoever hears it, not only a colour. */
function Side({ title, lines, side, isPlain = false }: SideProps) {
  const shown = lines.filter((line) => line[side] !== null);
  return (
    <figure class="example-side">
      <figcaption>{title}</figcaption>
      <pre>
        {shown.map((line, at) => {
          const differs = !isPlain && !line.isSame;
          return (
            <span key={at} class={differs ? "example-line differs" : "example-line"}>
              {!isPlain && (
                <span class="example-sign" aria-hidden="true">
                  {differs ? "≠" : " "}
                </span>
              )}
              {line[side]}
              {differs && <span class="visually-hidden"> (differs)</span>}
              {"\n"}
            </span>
          );
        })}
        {shown.length === 0 && <span class="quiet">nothing</span>}
      </pre>
    </figure>
  );
}
