/** Which tier and which checks the results pane shows. */
import type { CheckResult, Verdict } from "../api/types";
import type { JudgingView, TierView } from "../judging/view";

export const isFailing = (verdict: Verdict | null): boolean =>
  verdict !== null && verdict !== "AC" && verdict !== "SK";

/** The first check that failed, in the order they are written. */
export const firstFailing = (tier: TierView): CheckResult | null =>
  tier.checks.find((check) => isFailing(check.verdict)) ?? null;

/** Whether a tier failed, or is about to: one of its checks has. */
const hasFailed = (tier: TierView): boolean =>
  isFailing(tier.verdict) || firstFailing(tier) !== null;

/** The first tier that counts and failed. */
export const failingTier = (view: JudgingView): TierView | null =>
  view.tiers.find((tier) => !tier.advisory && hasFailed(tier)) ?? null;

/** The tiers that are not met and count for nothing. */
export const unmetAdvice = (view: JudgingView): TierView[] =>
  view.tiers.filter((tier) => tier.advisory && hasFailed(tier));

/**
 * What the student chose; else where it failed; else where there is advice; else the first. A tier
 * that merely runs is not followed: the list would be another one several times a second.
 */
export const shownTier = (view: JudgingView, chosen: string | null): TierView | null =>
  view.tiers.find((tier) => tier.id === chosen) ??
  failingTier(view) ??
  unmetAdvice(view)[0] ??
  view.tiers[0] ??
  null;

interface Groups {
  failed: CheckResult[];
  passed: CheckResult[];
  skipped: CheckResult[];
}

/** A tier's checks, each kind in the order they are written. */
export const grouped = (checks: readonly CheckResult[]): Groups => ({
  failed: checks.filter((check) => isFailing(check.verdict)),
  passed: checks.filter((check) => check.verdict === "AC"),
  skipped: checks.filter((check) => check.verdict === "SK"),
});
