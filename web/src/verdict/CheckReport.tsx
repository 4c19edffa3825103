import "./CheckReport.css";

import type { ComponentChildren } from "preact";

import type { CheckResult, Detail, Diagnosis, Frame, ProblemPage } from "../api/types";
import type { JudgingView } from "../judging/view";
import { measure } from "../parts/amounts";
import { Coded } from "../parts/Coded";
import { ExpectedGot } from "./ExpectedGot";
import { Frames } from "./Frames";
import { Replay } from "./Replay";

interface Props {
  check: CheckResult;
  /** Known mistakes that explain the whole submission; they are told with its first failure. */
  diagnosis: readonly Diagnosis[];
  problem: ProblemPage;
  view: JudgingView;
  onReveal: (frame: Frame) => void;
}

/** What was found, expected and got, where, the hint, why it matters, how to replay it. */
export function CheckReport({ check, diagnosis, problem, view, onReveal }: Props) {
  const detail = check.detail ?? null;
  return (
    <div class="check-report">
      {check.message && (
        <p class="check-report-found">
          <Coded text={check.message} />
        </p>
      )}
      {detail && <Frames frames={detail.frames} onReveal={onReveal} />}
      {detail && <Measured detail={detail} />}
      {detail && <ExpectedGot expected={detail.expected ?? null} got={detail.got ?? null} />}
      {diagnosis.map((each) => (
        <Remark key={each.pitfall} title="Hint">
          <Coded text={each.hint} />
        </Remark>
      ))}
      {check.why && (
        <Remark title="Why it matters">
          <Coded text={check.why} />
        </Remark>
      )}
      <Replay problem={problem} seed={view.seed} />
    </div>
  );
}

function Remark({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <p class="check-report-remark">
      <b>{title}</b> {children}
    </p>
  );
}

function Measured({ detail }: { detail: Detail }) {
  const facts = measured(detail);
  if (facts.length === 0) return null;
  return (
    <dl class="check-report-measured">
      {facts.map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function measured({ max_abs, max_rel, at, limit }: Detail): [string, string][] {
  const facts: [string, string | null][] = [
    ["largest error", told(max_abs, measure)],
    ["relative", told(max_rel, measure)],
    ["at", told(at, (place) => `[${place.join(", ")}]`)],
    ["limit", limit ?? null],
  ];
  return facts.flatMap(([term, value]) => (value === null ? [] : [[term, value]]));
}

function told<Value>(value: Value | null | undefined, say: (value: Value) => string) {
  return value === null || value === undefined ? null : say(value);
}
