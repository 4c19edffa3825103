/** What the Results tab says of itself while another one is shown: an icon and a word. */
import { isScratch, type JudgingView } from "../judging/view";
import type { IconName } from "../parts/Icon";
import { type Tone, VERDICTS } from "../parts/verdicts";
import { failingTier } from "../verdict/selection";
import { refusedWords } from "../verdict/words";

export interface ResultState {
  icon: IconName;
  words: string;
  /** Null while there is nothing to judge by. */
  tone: Tone | null;
}

/** Null before anything was sent. */
export function resultState(view: JudgingView | null): ResultState | null {
  if (view === null) return null;
  switch (view.phase) {
    case "opening":
      return { icon: "running", words: "Opening", tone: null };
    case "sending":
      return { icon: "send", words: "Sending", tone: null };
    case "unsent":
      return { icon: "limit", words: "Not sent yet", tone: "limit" };
    case "refused":
      return { icon: "limit", words: refusedWords(view), tone: "limit" };
    case "queued":
      return { icon: "waiting", words: "Queued", tone: null };
    case "judging":
      return { icon: "running", words: "Judging", tone: null };
    case "finished":
      return finished(view);
  }
}

const PASSED: Record<JudgingView["kind"], string> = {
  run: "Passed",
  submit: "Accepted",
  tests: "Tests passed",
};

/** Short: a third of a telephone's width is all there is. */
function finished(view: JudgingView): ResultState | null {
  const { verdict, kind } = view;
  if (verdict === null) return null;
  const { tone } = VERDICTS[verdict];
  if (tone === "pass") {
    return { icon: tone, words: isScratch(view) ? "Ran" : PASSED[kind], tone };
  }
  if (tone === "fault") return { icon: tone, words: "Our fault", tone };
  if (kind === "tests") return { icon: tone, words: "Tests failed", tone };
  const failed = failingTier(view);
  return { icon: tone, words: failed ? `Failed at ${failed.id}` : verdict, tone };
}
