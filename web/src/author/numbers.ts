/** Shares of limits and times, as the author's panels show them. */
import type { CheckTime, Headroom, MadeMutant } from "../api/types";

/** An infinite share comes as null: JSON has no word for it. */
type Share = number | null | undefined;

/** The widest span that a strip shows, in powers of ten around the limit. */
const LOWEST = -9;
const HIGHEST = 5;

/** Where a share of a limit stands on a strip, in percent of its width; the limit is share 1. */
export function placeOnStrip(share: Share): number {
  if (share === null || share === undefined) return 100;
  if (share <= 0) return 0;
  const power = Math.min(HIGHEST, Math.max(LOWEST, Math.log10(share)));
  return ((power - LOWEST) / (HIGHEST - LOWEST)) * 100;
}

/** "0.012 ×", "41 ×", "3e-7 ×": how many times the limit. */
export function times(share: Share): string {
  if (share === null || share === undefined) return "∞ ×";
  if (share === 0) return "0 ×";
  const short = share < 0.001 || share >= 10_000 ? share.toExponential(0) : trimmed(share);
  return `${short.replace("e+", "e")} ×`;
}

const trimmed = (share: number): string => String(Number(share.toPrecision(2)));

/** What is said to be close first, then the comparisons with the least room. */
export function tightestFirst(headroom: readonly Headroom[]): Headroom[] {
  const room = ({ reference, nearest }: Headroom) =>
    Math.min(
      reference === 0 ? Infinity : -Math.log10(reference ?? Infinity),
      typeof nearest === "number" && nearest > 0 ? Math.log10(nearest) : Infinity,
    );
  const isFar = ({ close }: Headroom) => Number(close === "");
  return [...headroom].sort((one, other) => {
    const [a, b] = [room(one), room(other)];
    return isFar(one) - isFar(other) || (a === b ? 0 : a - b);
  });
}

export interface TierTime {
  tier: string;
  /** Of all its checks together. */
  medianMs: number;
  checks: CheckTime[];
}

/** Times by tier, in the order that they came. */
export function byTier(checks: readonly CheckTime[]): TierTime[] {
  const tiers = new Map<string, TierTime>();
  for (const check of checks) {
    const known = tiers.get(check.tier) ?? { tier: check.tier, medianMs: 0, checks: [] };
    known.medianMs += check.median_ms;
    known.checks.push(check);
    tiers.set(check.tier, known);
  }
  return [...tiers.values()];
}

/** "840 ms", "1.2 s", "0.4 ms". */
export function shortTime(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}

export interface MadeSummary {
  killed: number;
  /** All but the equivalent ones. */
  counted: number;
  equivalent: MadeMutant[];
}

export function summaryOf(made: readonly MadeMutant[]): MadeSummary {
  const equivalent = made.filter((mutant) => mutant.equivalent);
  const counted = made.filter((mutant) => !mutant.equivalent);
  const killed = counted.filter((mutant) => mutant.killed_by).length;
  return { killed, counted: counted.length, equivalent };
}

/** A line of a unified diff and what it is; headings of files and places are left out. */
export interface DiffLine {
  kind: "added" | "removed" | "same";
  text: string;
}

export function diffLines(diff: string): DiffLine[] {
  return diff
    .split("\n")
    .filter((line) => line !== "" && !/^(---|\+\+\+|@@|\\)/.test(line))
    .map((line) => {
      if (line.startsWith("+")) return { kind: "added", text: line.slice(1) };
      if (line.startsWith("-")) return { kind: "removed", text: line.slice(1) };
      return { kind: "same", text: line.replace(/^ /, "") };
    });
}
