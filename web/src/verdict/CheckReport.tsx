import "./CheckReport.css";

import type { CheckResult, Diagnosis, Frame, ProblemPage } from "../api/types";
import type { JudgingView } from "../judging/view";
import { Coded } from "../parts/Coded";
import { Icon } from "../parts/Icon";
import { ExpectedGot } from "./ExpectedGot";
import { Frames } from "./Frames";
import { Replay } from "./Replay";
import { measured } from "./measured";

interface Props {
  check: CheckResult;
  /** Known mistakes that explain the whole submission; they are told with its first failure. */
  diagnosis: readonly Diagnosis[];
  problem: ProblemPage;
  view: JudgingView;
  onReveal: (frame: Frame) => void;
}

/** What was found, where, the hint, expected and got, why it matters, how to replay it. */
export function CheckReport({ check, diagnosis, problem, view, onReveal }: Props) {
  const { message, verdict, why } = check;
  const detail = check.detail ?? null;
  const facts = measured(message, detail);
  // What an exception is about is not what the check is about.
  const isRaised = verdict === "RE" || verdict === "CE";
  return (
    <div class="check-report">
      {(message || facts !== "") && (
        <p class={`check-report-found ${verdict === "RE" ? "check-report-raised" : ""}`}>
          <Coded text={message} /> {facts !== "" && <span class="quiet">{facts}</span>}
        </p>
      )}
      {detail && <Frames frames={detail.frames} onReveal={onReveal} />}
      {diagnosis.map((each) => (
        <p key={each.pitfall} class="check-report-hint">
          <Icon name="hint" />
          <span>
            <b>Hint</b> <Coded text={each.hint} />
          </span>
        </p>
      ))}
      {detail && <ExpectedGot expected={detail.expected ?? null} got={detail.got ?? null} />}
      {why && !isRaised && (
        <p class="check-report-why">
          <b>Why it matters</b> <Coded text={why} />
        </p>
      )}
      <Replay problem={problem} seed={view.seed} />
    </div>
  );
}
