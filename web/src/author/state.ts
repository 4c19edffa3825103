/** How the folder that is being written is, in a few words. */
import type { AuthorNews } from "../api/types";
import { counted } from "../parts/amounts";
import type { IconName } from "../parts/Icon";
import type { Tone } from "../parts/verdicts";

export interface AuthorState {
  icon: IconName;
  words: string;
  /** Null while there is nothing to judge by. */
  tone: Tone | null;
}

const open = (icon: IconName, words: string): AuthorState => ({ icon, words, tone: null });

export function stateOf(news: AuthorNews | null, isOpen: boolean): AuthorState {
  if (!isOpen) return { icon: "fault", words: "judge dev does not answer", tone: "limit" };
  if (news === null) return open("running", "Connecting");
  if (news.faults.length > 0) {
    const words = counted(news.faults.length, "fault");
    return { icon: "fail", words, tone: "fail" };
  }
  if (news.version === null) return open("running", "Reading the folder");
  if (!news.is_read) return open("running", "Running the reference");
  return proofState(news.proving);
}

function proofState({ state, claims, failed, ...far }: AuthorNews["proving"]): AuthorState {
  switch (state) {
    case "waiting":
      return open("waiting", "Proof not begun");
    case "proving":
      return open("running", progress(far));
    case "stopped":
      return { icon: "fault", words: "Proof stopped", tone: "limit" };
    case "finished":
      return failed > 0
        ? { icon: "fail", words: `${failed} of ${counted(claims, "claim")} failed`, tone: "fail" }
        : { icon: "pass", words: `Proven: ${counted(claims, "claim")}`, tone: "pass" };
  }
}

/** "Proving… 120 of 430". */
export const progress = ({
  answered,
  asked,
}: Pick<AuthorNews["proving"], "answered" | "asked">): string =>
  asked > 0 ? `Proving… ${answered} of ${asked}` : "Proving…";

/** A path as an author names it: from the exercise's folder on, with the folder's own name. */
export function shortPath(file: string, folder: string): string {
  const around = folder.slice(0, folder.lastIndexOf("/") + 1);
  return around !== "" && file.startsWith(around) ? file.slice(around.length) : file;
}
