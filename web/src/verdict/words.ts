/** What the results pane says of a submission as a whole, at every moment of it. */
import type { Limits, ProblemPage, TierToPass, Verdict } from "../api/types";
import { examples } from "../judging/reducer";
import {
  isExample,
  isScratch,
  type JudgingView,
  OWN_TEST,
  OWN_TESTS,
  type TierView,
} from "../judging/view";
import { bytes, counted, percent, roughly, seconds } from "../parts/amounts";
import type { IconName } from "../parts/Icon";
import { type Tone, VERDICTS } from "../parts/verdicts";
import { failingTier, isFailing, unmetAdvice } from "./selection";

export interface Headline {
  icon: IconName;
  /** Null while there is no verdict. */
  tone: Tone | null;
  title: string;
  code: Verdict | null;
  /** Short facts, for the rest of the line. */
  facts: string[];
  /** A sentence or two below, where something needs words. */
  explanation: string | null;
}

const CONNECTING = "The connection is lost. Judging goes on, and the page is connecting again.";
const AWAY = "The judge does not answer. The page keeps asking.";
const QUEUED_AGAIN = "This was our fault, not yours. It is queued again.";
const JUDGED_AGAIN = "This was our fault, not yours. It is being judged again.";
const FAULT =
  "This was our fault, not yours, and nothing counts against you. Send it again to have it judged.";

export function headline(view: JudgingView): Headline {
  switch (view.phase) {
    case "opening":
      return underWay("waiting", "Opening the submission", [], lost(view, AWAY));
    case "sending":
      return underWay("send", "Sending", [], null);
    case "unsent":
      return halted("Not sent yet", view);
    case "refused":
      return halted(refusedWords(view), view);
    case "queued":
      return underWay(
        "waiting",
        "Queued",
        place(view),
        lost(view, CONNECTING) ?? again(view, QUEUED_AGAIN),
      );
    case "judging":
      return underWay(
        "running",
        judging(view),
        [],
        lost(view, CONNECTING) ?? again(view, JUDGED_AGAIN),
      );
    case "finished":
      return view.verdict === null
        ? underWay("running", "Judging", [], null)
        : finished(view, view.verdict);
  }
}

const underWay = (
  icon: IconName,
  title: string,
  facts: string[],
  explanation: string | null,
): Headline => ({ icon, tone: null, title, code: null, facts, explanation });

const halted = (title: string, view: JudgingView): Headline => ({
  icon: "limit",
  tone: "limit",
  title,
  code: null,
  facts: [],
  explanation: view.refusal && sentence(view.refusal.sentence, view.refusal.retryAtMs),
});

/** Of what was sent, and of what was asked for. */
export const refusedWords = ({ id }: JudgingView): string =>
  id === null ? "Not taken" : "Not found";

/** How long it takes is counted down beside it; the judge's own number would stand still. */
const sentence = (words: string, retryAtMs: number | null): string =>
  retryAtMs === null ? words : words.replace(/ [^.]*\d+ s\.$/, "");

const lost = (view: JudgingView, words: string): string | null =>
  view.connection === "lost" ? words : null;

const again = (view: JudgingView, words: string): string | null =>
  view.restarts > 0 ? words : null;

function place(view: JudgingView): string[] {
  if (view.ahead === null) return [];
  const left = view.wait?.leftMs ?? null;
  return [
    view.ahead === 0 ? "next to be judged" : `${view.ahead} to be judged before it`,
    ...(left === null ? [] : [roughly(left)]),
  ];
}

function judging(view: JudgingView): string {
  if (isScratch(view)) return `Running the ${scratchName(view)}`;
  if (view.kind === "tests") return "Grading your tests";
  const running = view.tiers.find((tier) => tier.phase === "running");
  return running ? `Judging ${name(running)}` : "Judging";
}

// --- the verdict ----------------------------------------------------------------------------------

function finished(view: JudgingView, verdict: Verdict): Headline {
  const { tone, words } = VERDICTS[verdict];
  const title = verdictTitle(view, verdict);
  return {
    icon: tone,
    tone,
    title,
    code: isTrial(view) && verdict === "AC" ? null : verdict,
    facts: [
      ...(saysAll(view, verdict) || title === words ? [] : [words]),
      ...(view.kind === "tests" ? [] : limitOf(verdict, view.limits)),
      ...(view.score === null || view.kind === "run" || verdict === "JE"
        ? []
        : [`score ${percent(view.score)}`]),
      ...(view.judgedMs === null ? [] : [`${tookWords(view, verdict)} ${seconds(view.judgedMs)}`]),
      ...unmetAdvice(view).map((tier) => `advice in ${tier.id}`),
    ],
    explanation: verdict === "JE" ? FAULT : null,
  };
}

/** What ran after the solution. */
export const scratchName = (view: JudgingView): string =>
  isExample(view) ? "example" : "scratch file";

const tookWords = (view: JudgingView, verdict: Verdict): string => {
  if (!isTrial(view)) return "judged in";
  return isScratch(view) && verdict === "AC" ? "in" : "ran for";
};

/** A run only tries: what comes of it is no verdict on the exercise. */
const isTrial = (view: JudgingView): boolean => view.kind === "run";

function verdictTitle(view: JudgingView, verdict: Verdict): string {
  const { words } = VERDICTS[verdict];
  if (verdict === "JE") return words;
  if (verdict === "RV") return "Rejected: a rule of the exercise is broken";
  if (view.kind === "tests") return testsTitle(view, verdict);
  if (verdict === "CE") return isUncompiled(view) ? "Does not compile" : "Cannot be imported";
  if (isScratch(view)) return verdict === "AC" ? `The ${scratchName(view)} ran to its end` : words;
  if (verdict === "AC") return isTrial(view) ? "All examples pass" : words;
  const tier = failingTier(view);
  if (!tier) return words;
  return isTrial(view) ? `Examples fail at ${name(tier)}` : `Rejected at ${name(tier)}`;
}

/** Python points at a column only where it could not read on; an import that fails has a line. */
const isUncompiled = (view: JudgingView): boolean =>
  view.tiers.some(({ checks }) =>
    checks.some(
      ({ verdict, detail }) =>
        verdict === "CE" && detail?.frames.some(({ column }) => (column ?? null) !== null),
    ),
  );

/** Whether the title alone says what became of it. */
const saysAll = ({ kind }: JudgingView, verdict: Verdict): boolean =>
  ["AC", "RV", "CE"].includes(verdict) || (kind === "tests" && verdict === "WA");

/** What the student's own tests fall short in, the first thing that has to be mended. */
function testsTitle(view: JudgingView, verdict: Verdict): string {
  const { mutation } = view;
  if (verdict === "AC") return "Your tests are accepted";
  const checks = view.tiers.flatMap((tier) => tier.checks);
  if (checks.some(({ kind, verdict: of }) => kind === OWN_TEST && isFailing(of))) {
    return "Rejected: a test fails on a right solution";
  }
  if (mutation && mutation.flaky.length > 0) return "Rejected: a test is flaky";
  if (mutation && mutation.score < mutation.threshold) {
    return "Rejected: too few mutants noticed";
  }
  return mutation ? "Rejected: a pitfall goes unnoticed" : "Rejected: your tests cannot be run";
}

/** The limit that was broken, in units people use. */
export function limitOf(verdict: Verdict, limits: Limits | null): string[] {
  if (!limits) return [];
  if (verdict === "TLE") {
    return [`the limit is ${limits.wall_s} s a tier, ${limits.cpu_s} s of processor time in all`];
  }
  if (verdict === "MLE") return [`the limit is ${bytes(limits.memory_bytes)}`];
  if (verdict === "OLE") return [`the limit is ${bytes(limits.output_bytes)}`];
  return [];
}

// --- afterwards -----------------------------------------------------------------------------------

/**
 * "opened": the editorial and the reference. "tests", "solution": what is still to be accepted.
 * "unknown": the exercise was not read again yet, and its progress does not count this one.
 */
type Afterwards = "opened" | "tests" | "solution" | "unknown";

/** What follows from an accepted submission; null where nothing was accepted. */
export function afterwards(
  { own_tests: own, progress }: Pick<ProblemPage, "own_tests" | "progress">,
  { kind, verdict }: JudgingView,
): Afterwards | null {
  if (verdict !== "AC" || kind === "run") return null;
  if (progress.state === "solved") return "opened";
  const arePassed = progress.tests === "passed";
  if (kind === "tests") return arePassed ? "solution" : "unknown";
  return own === null || arePassed ? "unknown" : "tests";
}

// --- tiers ----------------------------------------------------------------------------------------

/** "T1 Oracle". */
export const name = (tier: Pick<TierView, "id" | "title">): string =>
  tier.id === OWN_TESTS.id ? OWN_TESTS.title : `${tier.id} ${tier.title}`.trim();

interface TileState {
  icon: IconName;
  tone: Tone | null;
  words: string;
  /** "3/8"; while it runs how many are done, afterwards how many passed. */
  count: string;
}

export function tileState(tier: TierView, view: JudgingView): TileState {
  if (isLeftOut(tier, view))
    return { icon: "skip", tone: "skip", words: "not in a run", count: "" };
  const count = (done: number) => (tier.total > 0 ? `${done}/${tier.total}` : "");
  if (tier.phase === "finished" && tier.verdict !== null) {
    const { tone, short } = verdictOf(tier.verdict, tier);
    return { icon: tone, tone, words: short, count: count(tier.passed) };
  }
  return tier.phase === "running"
    ? { icon: "running", tone: null, words: "running", count: count(tier.checks.length) }
    : { icon: "waiting", tone: null, words: "waiting", count: count(0) };
}

/** How a verdict looks in a tier: what counts for nothing is advice, and no failure. */
export function verdictOf(verdict: Verdict, { advisory }: Pick<TierView, "advisory">) {
  const { tone, short } = VERDICTS[verdict];
  if (!advisory || tone !== "fail") return { tone, short };
  return { tone: "advice" as const, short: verdict === "WA" ? "advice" : short };
}

/** Whether a run executes none of the tier's checks. */
const isLeftOut = (tier: TierView, view: JudgingView): boolean =>
  view.kind === "run" && tier.total === 0 && (tier.verdict === null || tier.verdict === "SK");

/** Why a tier was not run. */
export function skipReason(
  tier: TierView,
  view: JudgingView,
  tiers: readonly TierToPass[],
): string {
  if (isLeftOut(tier, view)) return "A run leaves this tier out. Submit judges it too.";
  const needs = tiers.find((each) => each.id === tier.id)?.requires ?? [];
  const missed = view.tiers.filter((each) => needs.includes(each.id) && each.verdict !== "AC");
  if (missed.length > 0) return `Not run. It needs ${missed.map(name).join(" and ")} first.`;
  return "Not run. Judging ended before this tier.";
}

// --- before the first submission ------------------------------------------------------------------

/** How many checks Run and Submit execute; null until somebody has counted them. */
export function checkCounts(problem: ProblemPage): { run: number; submit: number } | null {
  const submit = problem.tiers.reduce((sum, tier) => sum + tier.checks.length, 0);
  if (submit === 0) return null;
  const run = problem.tiers.reduce((sum, tier) => sum + examples(tier), 0);
  return { run, submit };
}

// --- what is said aloud ---------------------------------------------------------------------------

/**
 * What a screen reader says, in order; it grows at its end while a submission is judged. Positions
 * in the queue and single checks are left out: nobody could listen to them.
 */
export function statements(view: JudgingView): string[] {
  const { title, explanation } = headline(view);
  switch (view.phase) {
    case "opening":
    case "sending":
      return [];
    case "unsent":
    case "refused":
      return [`${title}. ${explanation ?? ""}`.trim()];
    case "queued":
      return ["Queued.", ...restarts(view)];
    case "judging":
      return ["Queued.", ...restarts(view), "Judging.", ...tierStatements(view)];
    case "finished":
      return [
        "Queued.",
        ...restarts(view),
        "Judging.",
        ...tierStatements(view),
        verdictStatement(view),
      ];
  }
}

const restarts = (view: JudgingView): string[] =>
  Array.from({ length: view.restarts }, () => QUEUED_AGAIN);

/** Of the tiers in which something was judged. */
const tierStatements = (view: JudgingView): string[] =>
  (isScratch(view) ? [] : view.tiers)
    .filter((tier) => tier.phase === "finished" && tier.verdict !== null && !isLeftOut(tier, view))
    .map((tier) => {
      const { words } = tileState(tier, view);
      const passed = `${tier.passed} of ${counted(tier.total, "check")} passed`;
      const mark = tier.advisory ? " (advisory)" : "";
      return `${name(tier)}${mark}: ${words}${tier.verdict === "SK" ? "" : `, ${passed}`}.`;
    });

function verdictStatement(view: JudgingView): string {
  const { title, explanation } = headline(view);
  const score = view.score === null || view.kind === "run" ? "" : ` Score ${percent(view.score)}.`;
  return `${title}.${explanation === null ? score : ` ${explanation}`}`;
}
