/** The catalogue as a list: what a row says, and in what order rows stand. */
import type { Catalogue, ProblemCard, Progress } from "../api/types";
import { counted } from "../parts/amounts";

export const WORK_STATES = ["untouched", "draft", "failed", "partly", "solved"] as const;
export type WorkState = (typeof WORK_STATES)[number];

export interface Row {
  problem: ProblemCard;
  trackTitle: string;
  state: WorkState;
  /** When the student last submitted or typed something, in milliseconds since the epoch. */
  lastWorkMs: number | null;
}

/** All rows, by track and number. `draftMs` says when a draft was kept, if there is one. */
export function rowsOf(catalogue: Catalogue, draftMs: (slug: string) => number | null): Row[] {
  const places = new Map(catalogue.tracks.map((track, place) => [track.id, place]));
  const place = (problem: ProblemCard) => places.get(problem.track) ?? places.size;
  return [...catalogue.problems]
    .sort((a, b) => place(a) - place(b) || a.number - b.number || (a.slug < b.slug ? -1 : 1))
    .map((problem) => {
      const savedMs = draftMs(problem.slug);
      return {
        problem,
        trackTitle: catalogue.tracks[place(problem)]?.title ?? problem.track,
        state: workState(problem.progress, savedMs !== null),
        lastWorkMs: newest(problem.progress.last_at ?? null, savedMs),
      };
    });
}

/** A verdict says more than a draft: whoever has one nearly always has the other. */
function workState(progress: Progress, draft: boolean): WorkState {
  if (missingHalf(progress) !== null) return "partly";
  return progress.state === "untouched" && draft ? "draft" : progress.state;
}

function newest(lastAt: string | null, savedMs: number | null): number | null {
  const times = [lastAt === null ? null : Date.parse(lastAt), savedMs].filter((ms) => ms !== null);
  return times.length > 0 ? Math.max(...times) : null;
}

export const STATE_WORDS: Record<WorkState, string> = {
  untouched: "Untouched",
  draft: "Draft",
  failed: "Failed",
  partly: "Partly solved",
  solved: "Solved",
};

/** Where an exercise takes one's own tests too: what is left when the other of the two is done. */
function missingHalf({ state, tests, failed_tier: tier }: Progress): "tests" | "solution" | null {
  if (state !== "failed" || (tests ?? null) === null) return null;
  if (tests === "passed") return "solution";
  // A submission that was accepted has no tier it failed at; nor has one of tests alone.
  return (tier ?? null) === null && tests === "untouched" ? "tests" : null;
}

const HALVES = {
  tests: "Solution passed, tests not yet",
  solution: "Tests passed, solution not yet",
};

/** "Failed at T2" where the tier is known. */
export function stateWords({ state, problem: { progress } }: Row): string {
  const missing = missingHalf(progress);
  if (missing !== null) return HALVES[missing];
  if (state !== "failed") return STATE_WORDS[state];
  const tier = progress.failed_tier ?? null;
  if (tier !== null) return `${STATE_WORDS.failed} at ${tier}`;
  return progress.tests === "failed" ? "Tests not accepted yet" : STATE_WORDS.failed;
}

export type TierMark = "passed" | "failed" | "open";

/** The tiers that count. */
export const countingTiers = ({ tiers }: Pick<ProblemCard, "tiers">): ProblemCard["tiers"] =>
  tiers.filter((tier) => !tier.advisory);

/** How far the student has come, tier that counts by tier. */
export function tierMarks(problem: ProblemCard): TierMark[] {
  const { progress } = problem;
  const tiers = countingTiers(problem);
  const failed = tiers.findIndex(({ id }) => id === progress.failed_tier);
  if (failed >= 0) {
    return tiers.map((_, at) => (at < failed ? "passed" : at === failed ? "failed" : "open"));
  }
  const isPassed = progress.state === "solved" || missingHalf(progress) === "tests";
  return tiers.map(() => (isPassed ? "passed" : "open"));
}

/** "12 exercises, 3 solved". */
export function countWords(rows: readonly Row[]): string {
  const solved = rows.filter((row) => row.state === "solved").length;
  const exercises = counted(rows.length, "exercise");
  return solved > 0 ? `${exercises}, ${solved} solved` : exercises;
}

/** Which row comes after this key; `current` is -1 when none has the focus. Null: not our key. */
export function nextRow(key: string, current: number, count: number): number | null {
  if (count === 0) return null;
  if (key === "j" || key === "ArrowDown") return Math.min(current + 1, count - 1);
  if (key === "k" || key === "ArrowUp") return Math.max(current - 1, 0);
  return null;
}
