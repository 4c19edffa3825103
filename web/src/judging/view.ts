/**
 * What the page knows of one submission on its way: the state that the reducer folds events into.
 *
 * Plain data. Words, icons and colours are chosen where it is shown.
 */
import type {
  Chart,
  CheckResult,
  Diagnosis,
  Kind,
  Limits,
  Mutation,
  Output,
  Result,
  Verdict,
} from "../api/types";

/** "waiting": not begun. "running": its checks are running. "finished": it has its verdict. */
type TierPhase = "waiting" | "running" | "finished";

export interface TierView {
  id: string;
  title: string;
  phase: TierPhase;
  verdict: Verdict | null;
  passed: number;
  /** Checks that are known to exist; 0 when nobody has counted them yet. */
  total: number;
  checks: CheckResult[];
  /** It counts neither for the verdict nor for the score. */
  advisory: boolean;
}

/**
 * "opening": an earlier one, being read from the judge. "sending": on its way to the judge.
 * "unsent": the judge was not reached; it is sent when it is. "refused": the judge said no,
 * `refusal` says why. "queued", "judging", "finished": as the judge says.
 */
export type Phase =
  "opening" | "sending" | "unsent" | "refused" | "queued" | "judging" | "finished";

/** Why it is not with the judge: what the judge answered, or that nobody did. */
export interface Refusal {
  sentence: string;
  /**
   * In milliseconds since the epoch. "refused": when pressing again will help. "unsent": when it is
   * sent again without being asked; null while there is no network.
   */
  retryAtMs: number | null;
}

/** How the queue went so far: what a rough time is reckoned from. */
export interface Wait {
  firstAhead: number;
  firstAtMs: number;
  /** Roughly, until it is this one's turn; null while nothing has moved yet. */
  leftMs: number | null;
}

/** How far the student's tests have been tried on wrong solutions. */
export interface Tried {
  total: number;
  /** Whether each mutant was noticed, of those that were tried. */
  killed: Record<string, boolean>;
}

export interface JudgingView {
  /** Null until the judge has accepted it. */
  id: string | null;
  problem: string;
  kind: Kind;
  /** The code of the exercise's examples: a run may be of one of them. */
  examples: readonly string[];
  /** What was sent, by file name: results are about this text, not about the editor's. */
  files: Record<string, string>;
  phase: Phase;
  refusal: Refusal | null;
  /** How many are judged before this one, while it is queued. */
  ahead: number | null;
  wait: Wait | null;
  /** Whether events arrive; "lost" while the browser connects again. */
  connection: "open" | "lost";
  /** How often something of the judge's failed and judging began anew. */
  restarts: number;
  tiers: TierView[];
  charts: Chart[];
  diagnosis: Diagnosis[];
  /** Of the student's own tests, while they are graded: null before the first mutant. */
  tried: Tried | null;
  /** Their grade; null of other submissions, and where they did not get so far. */
  mutation: Mutation | null;
  output: Output | null;
  verdict: Verdict | null;
  score: number | null;
  /** Known when it has finished: what replays it. */
  seed: number | null;
  limits: Limits | null;
  judgedMs: number | null;
  /** Of the exercise that it was judged by. */
  problemVersion: string | null;
  environment: Result["environment"] | null;
}

/** A scratch run carries this file: it is executed after the solution, and no checks run. */
export const SCRATCH_FILE = "scratch.py";

/** The one tier that the student's own tests are judged by: each of them, on right solutions. */
export const OWN_TESTS = { id: "tests", title: "Your tests" };

/** The kind of a check that is one of these tests; others speak of all of them together. */
export const OWN_TEST = "test";

export const isScratch = (view: JudgingView): boolean => SCRATCH_FILE in view.files;

/** Whether its scratch file is one of the exercise's examples, which the editor does not hold. */
export const isExample = ({ files, examples }: JudgingView): boolean =>
  examples.some((code) => code === files[SCRATCH_FILE]);
