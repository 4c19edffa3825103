/** A student's history of one exercise as it is shown: parts put together, rows put into words. */
import type { History, HistoryEntry, ProblemPage } from "../api/types";
import type { IconName } from "../parts/Icon";
import { type Tone, VERDICTS } from "../parts/verdicts";

/** The history read again: what is new comes first, what was loaded further down stays. */
export function refreshed(shown: History | null, newest: History): History {
  if (!shown || newest.next === null) return newest;
  const last = newest.submissions.at(-1)?.id;
  const overlap = shown.submissions.findIndex(({ id }) => id === last);
  // More has come than fits one part: what lies between is not known, so that the rest is dropped.
  if (overlap < 0) return newest;
  const older = shown.submissions.slice(overlap + 1);
  if (older.length === 0) return newest;
  return { submissions: [...newest.submissions, ...older], next: shown.next };
}

/** The history with the part that follows it. */
export function extended(shown: History, part: History): History {
  const known = new Set(shown.submissions.map(({ id }) => id));
  const older = part.submissions.filter(({ id }) => !known.has(id));
  return { submissions: [...shown.submissions, ...older], next: part.next };
}

export const newestAccepted = (history: History): HistoryEntry | null =>
  history.submissions.find(({ verdict, kind }) => verdict === "AC" && kind === "submit") ?? null;

interface EntryWords {
  icon: IconName;
  tone: Tone;
  words: string;
  code: string | null;
  /** "at T1 Oracle"; empty where there is no tier to name. */
  tier: string;
}

/** How a submission ended, or where it is. */
export function entryWords(entry: HistoryEntry, tiers: ProblemPage["tiers"]): EntryWords {
  if (entry.verdict === null) {
    const queued = entry.state === "queued";
    return {
      icon: queued ? "waiting" : "running",
      tone: "skip",
      words: queued ? "Queued" : "Judging",
      code: null,
      tier: "",
    };
  }
  const { words, tone } = VERDICTS[entry.verdict];
  return { icon: tone, tone, words, code: entry.verdict, tier: tierWords(entry, tiers) };
}

function tierWords({ failed_tier: id }: HistoryEntry, tiers: ProblemPage["tiers"]): string {
  if (id === null) return "";
  const tier = tiers.find((each) => each.id === id);
  return tier ? `at ${tier.id} ${tier.title}` : `at ${id}`;
}
