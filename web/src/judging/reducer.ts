/**
 * Folds what happens to a submission into what the page shows of it.
 *
 * Theory of operation
 * -------------------
 * One pure function. The tiers and their counts come from the exercise's page, so that the rail has
 * its shape before the first event and nothing moves later. Events may come twice or late, for a
 * stream that is opened again tells everything from its beginning: a check replaces the one of the
 * same id, a finished tier is not begun again. `restarted` voids what came before it. After
 * `finished` no event counts any more; only the final `Result`, which replaces everything.
 */
import type {
  CheckResult,
  Kind,
  Position,
  ProblemPage,
  Result,
  StreamEvent,
  TierResult,
  TierToPass,
} from "../api/types";
import {
  type JudgingView,
  OWN_TESTS,
  type Refusal,
  SCRATCH_FILE,
  type TierView,
  type Tried,
  type Wait,
} from "./view";

/** What has to be known of an exercise: the shape of its rail, and what runs may be of. */
export type Plan = Pick<ProblemPage, "slug" | "tiers" | "examples">;

export type Action =
  | { type: "opening"; plan: Plan; id: string; kind: Kind }
  | { type: "sending"; plan: Plan; kind: Kind; files: Record<string, string> }
  | { type: "accepted"; id: string }
  | { type: "unsent"; refusal: Refusal }
  | { type: "refused"; refusal: Refusal }
  /** There is no submission of this id to show. */
  | { type: "unknown"; id: string; sentence: string }
  /** "anew": a stream is opened that tells everything from its beginning. */
  | { type: "connection"; state: "anew" | "open" | "lost" }
  | { type: "event"; event: StreamEvent }
  | { type: "position"; position: Position; atMs: number }
  | { type: "result"; result: Result }
  | { type: "files"; id: string; files: Record<string, string> };

export function reduce(view: JudgingView | null, action: Action): JudgingView | null {
  if (action.type === "opening") {
    return { ...blank(action.plan, action.kind, {}), id: action.id, phase: "opening" };
  }
  if (action.type === "sending") return blank(action.plan, action.kind, action.files);
  return view && advance(view, action);
}

type Later = Exclude<Action, { type: "opening" | "sending" }>;

function advance(view: JudgingView, action: Later): JudgingView {
  switch (action.type) {
    case "accepted":
      return view.id === null ? { ...view, id: action.id, phase: "queued", refusal: null } : view;
    case "unsent":
    case "refused":
      return view.phase === "finished" || view.id !== null
        ? view
        : { ...view, phase: action.type, refusal: action.refusal };
    case "unknown":
      return view.id === action.id
        ? { ...view, phase: "refused", refusal: { sentence: action.sentence, retryAtMs: null } }
        : view;
    case "connection":
      return connected(view, action.state);
    case "event":
      return isFollowed(view) ? told(view, action.event) : view;
    case "position":
      return isFollowed(view) && view.phase !== "judging"
        ? moved(view, action.position.ahead, action.atMs)
        : view;
    case "result":
      return answered(view, action.result);
    case "files":
      return view.id === action.id ? { ...view, files: action.files } : view;
  }
}

/** Whether events can still change anything. */
const isFollowed = (view: JudgingView): boolean => view.id !== null && view.phase !== "finished";

// --- before the first event -----------------------------------------------------------------------

function blank(plan: Plan, kind: Kind, files: Record<string, string>): JudgingView {
  return {
    id: null,
    problem: plan.slug,
    kind,
    examples: plan.examples.map(({ code }) => code),
    files,
    phase: "sending",
    refusal: null,
    ahead: null,
    wait: null,
    connection: "open",
    restarts: 0,
    tiers: plannedTiers(plan, kind, files),
    charts: [],
    diagnosis: [],
    tried: null,
    mutation: null,
    output: null,
    verdict: null,
    score: null,
    seed: null,
    limits: null,
    judgedMs: null,
    problemVersion: null,
    environment: null,
  };
}

function plannedTiers(plan: Plan, kind: Kind, files: Record<string, string>): TierView[] {
  if (kind === "tests") return [{ ...unknown(OWN_TESTS.id), title: OWN_TESTS.title }];
  return SCRATCH_FILE in files ? [] : plan.tiers.map((tier) => planned(tier, kind));
}

function planned(tier: TierToPass, kind: Kind): TierView {
  return {
    id: tier.id,
    title: tier.title,
    phase: "waiting",
    verdict: null,
    passed: 0,
    total: kind === "run" ? examples(tier) : tier.checks.length,
    checks: [],
    advisory: tier.advisory,
  };
}

/** How many checks of a tier a run executes. */
export function examples(tier: TierToPass): number {
  if (typeof tier.visible === "boolean") return tier.visible ? tier.checks.length : 0;
  const names = new Set(tier.visible);
  const known = tier.checks.filter((check) => names.has(functionName(check.id))).length;
  return tier.checks.length > 0 ? known : names.size;
}

/** "test_t1_oracle::test_sizes[3]" is one case of `test_sizes`. */
const functionName = (id: string): string => (id.split("::").pop() ?? id).replace(/\[.*$/, "");

// --- the connection and the queue -----------------------------------------------------------------

function connected(view: JudgingView, state: "anew" | "open" | "lost"): JudgingView {
  if (!isFollowed(view)) return view;
  // A stream that begins anew tells of every restart once more.
  return state === "anew" ? { ...view, restarts: 0 } : { ...view, connection: state };
}

function moved(view: JudgingView, ahead: number, atMs: number): JudgingView {
  return { ...view, phase: "queued", ahead, wait: waiting(view.wait, ahead, atMs) };
}

function waiting(wait: Wait | null, ahead: number, atMs: number): Wait {
  // Others may come before this one, a student's first before a student's fifth: reckon anew.
  if (!wait || ahead > wait.firstAhead) return { firstAhead: ahead, firstAtMs: atMs, leftMs: null };
  const done = wait.firstAhead - ahead;
  const leftMs = done > 0 ? ((atMs - wait.firstAtMs) / done) * (ahead + 1) : null;
  return { ...wait, leftMs };
}

// --- events ---------------------------------------------------------------------------------------

function told(view: JudgingView, event: StreamEvent): JudgingView {
  switch (event.type) {
    case "queued":
      return view.phase === "judging" ? view : { ...view, phase: "queued", ahead: event.ahead };
    case "started":
      return judging(view);
    case "tier_started":
      return judging(withTier(view, event.tier, begun));
    case "check_finished":
      return judging(withTier(view, event.tier, (tier) => withCheck(tier, event.check)));
    case "chart":
      return judging({ ...view, charts: replaced(view.charts, event.chart) });
    case "tier_finished":
      return judging(
        withTier(view, event.tier, (tier) => ({
          ...tier,
          phase: "finished",
          verdict: event.verdict,
          passed: event.passed,
          total: event.total,
        })),
      );
    case "mutant_finished":
      return judging({ ...view, tried: withMutant(view.tried, event) });
    case "restarted":
      return restarted(view);
    case "finished":
      return {
        ...judging(view),
        phase: "finished",
        connection: "open",
        verdict: event.verdict,
        score: event.score,
        diagnosis: event.diagnosis,
        mutation: event.mutation,
        output: event.output,
      };
  }
}

const judging = (view: JudgingView): JudgingView => ({
  ...view,
  phase: "judging",
  ahead: null,
  wait: null,
});

function restarted(view: JudgingView): JudgingView {
  return {
    ...view,
    phase: "queued",
    ahead: null,
    wait: null,
    restarts: view.restarts + 1,
    tiers: view.tiers.map((tier) => ({
      ...tier,
      phase: "waiting",
      verdict: null,
      passed: 0,
      checks: [],
    })),
    charts: [],
    tried: null,
  };
}

type MutantFinished = Extract<StreamEvent, { type: "mutant_finished" }>;

/** By its id and not by counting: a stream that is opened again tells of each mutant once more. */
const withMutant = (tried: Tried | null, { mutant, killed_by, total }: MutantFinished): Tried => ({
  total,
  killed: { ...tried?.killed, [mutant]: killed_by.length > 0 },
});

/** A tier that the page did not know, of a newer version of the exercise, comes last. */
function withTier(
  view: JudgingView,
  id: string,
  change: (tier: TierView) => TierView,
): JudgingView {
  const known = view.tiers.some((tier) => tier.id === id);
  const tiers = known ? view.tiers : [...view.tiers, unknown(id)];
  return { ...view, tiers: tiers.map((tier) => (tier.id === id ? change(tier) : tier)) };
}

const unknown = (id: string): TierView => ({
  id,
  title: "",
  phase: "waiting",
  verdict: null,
  passed: 0,
  total: 0,
  checks: [],
  advisory: false,
});

const begun = (tier: TierView): TierView =>
  tier.phase === "waiting" ? { ...tier, phase: "running" } : tier;

function withCheck(tier: TierView, check: CheckResult): TierView {
  const checks = replaced(tier.checks, check);
  // The checks of a tier that is skipped are told as well; such a tier has not begun.
  const started = check.verdict === "SK" ? tier : begun(tier);
  return {
    ...started,
    checks,
    passed: accepted(checks),
    total: Math.max(tier.total, checks.length),
  };
}

const accepted = (checks: readonly CheckResult[]): number =>
  checks.filter((check) => check.verdict === "AC").length;

/** The list with `item` in the place of the one of the same id, or at its end. */
function replaced<Item extends { id: string }>(items: readonly Item[], item: Item): Item[] {
  return items.some((each) => each.id === item.id)
    ? items.map((each) => (each.id === item.id ? item : each))
    : [...items, item];
}

// --- the judge's own account ----------------------------------------------------------------------

function answered(view: JudgingView, result: Result): JudgingView {
  const isFinal = result.state === "finished";
  if (view.id !== result.id || (view.phase === "finished" && !isFinal)) return view;
  const told = {
    ...view,
    kind: result.kind,
    phase: result.state,
    refusal: null,
    connection: "open" as const,
    charts: result.charts,
    limits: result.limits,
  };
  return isFinal
    ? {
        ...told,
        ahead: null,
        wait: null,
        tiers: result.tiers.map(settled),
        diagnosis: result.diagnosis,
        mutation: result.mutation ?? null,
        output: result.output,
        verdict: result.verdict,
        score: result.score,
        seed: result.seed,
        judgedMs: result.timing.judged_ms,
        problemVersion: result.problem_version,
        environment: result.environment,
      }
    : { ...told, tiers: result.tiers.map((tier) => underWay(tier, view)) };
}

const settled = (tier: TierResult): TierView => ({ ...tier, phase: "finished" });

function underWay(tier: TierResult, view: JudgingView): TierView {
  const hasBegun = tier.checks.some((check) => check.verdict !== "SK");
  const known = view.tiers.find((each) => each.id === tier.id);
  // The judge counts all checks of a tier until it has finished; how many a run executes is known
  // from the exercise's page.
  const total =
    tier.verdict === null && known && view.kind === "run"
      ? Math.max(known.total, tier.checks.length)
      : tier.total;
  return {
    ...tier,
    total,
    phase: tier.verdict !== null ? "finished" : hasBegun ? "running" : "waiting",
  };
}
