/** What became of an example that was run: its code is the scratch file of a run. */
import type { Frame } from "../api/types";
import { type JudgingView, SCRATCH_FILE } from "../judging/view";
import { VERDICTS } from "../parts/verdicts";
import { isFailing } from "../verdict/selection";

export type ExampleRun =
  | { state: "running" }
  /** The judge did not take it, or was not reached. */
  | { state: "halted"; words: string }
  | { state: "finished"; printed: string; fault: Fault | null };

/** Why it did not run to its end. */
interface Fault {
  words: string;
  frames: readonly Frame[];
}

/** What `view` says of the example with this code; null when it is about something else. */
export function runOf(view: JudgingView | null, code: string): ExampleRun | null {
  if (view?.kind !== "run" || view.files[SCRATCH_FILE] !== code) return null;
  if (view.phase === "refused" || view.phase === "unsent") {
    return { state: "halted", words: view.refusal?.sentence ?? "" };
  }
  if (view.phase !== "finished") return { state: "running" };
  return { state: "finished", printed: view.output?.text ?? "", fault: faultOf(view) };
}

function faultOf(view: JudgingView): Fault | null {
  if (view.verdict === null || view.verdict === "AC") return null;
  const stop = view.tiers.flatMap(({ checks }) => checks).find((each) => isFailing(each.verdict));
  const message = stop?.message ?? "";
  return {
    words: message === "" ? VERDICTS[view.verdict].words : message,
    frames: stop?.detail?.frames ?? [],
  };
}
