import { expect, test } from "vitest";

import type { Headroom, MadeMutant } from "../api/types";
import {
  byTier,
  diffLines,
  placeOnStrip,
  shortTime,
  summaryOf,
  tightestFirst,
  times,
} from "./numbers";

const room = (reference: number | null, nearest: number | null = null): Headroom => ({
  check: `${reference}`,
  what: "out",
  dtype: "float64",
  reference,
  nearest,
  nearest_mutant: nearest === null ? "" : "halved",
  close: "",
});

const made = (id: string, killed_by: string, equivalent = ""): MadeMutant => ({
  id,
  operator: "a sign",
  line: 1,
  diff: "",
  killed_by,
  equivalent,
});

test("shares of a limit are short, however large or small", () => {
  expect([0, 3.2e-8, 0.0123, 0.5, 41.4, 2.5e6].map(times)).toEqual([
    "0 ×",
    "3e-8 ×",
    "0.012 ×",
    "0.5 ×",
    "41 ×",
    "3e6 ×",
  ]);
  expect(times(null)).toBe("∞ ×");
});

test("a share above the limit stands right of it, and none leaves the strip", () => {
  expect(placeOnStrip(0.9)).toBeLessThan(placeOnStrip(1));
  expect(placeOnStrip(1.1)).toBeGreaterThan(placeOnStrip(1));
  expect([0, 1e-30, 1e30, null].map(placeOnStrip)).toEqual([0, 0, 100, 100]);
});

test("comparisons with little room come first", () => {
  const rows = [room(1e-6, 1e4), room(0.7), room(0.1, 1.2)];
  expect(tightestFirst(rows).map(({ reference }) => reference)).toEqual([0.1, 0.7, 1e-6]);
  const told = { ...room(0.2, 9), close: "the reference is close to the limit" };
  expect(tightestFirst([room(0.1, 1.2), told])[0]).toBe(told);
  expect(tightestFirst([room(0.7), room(null)]).map(({ reference }) => reference)).toEqual([
    null,
    0.7,
  ]);
  expect(tightestFirst([room(0), room(0, 5)]).map(({ nearest }) => nearest)).toEqual([5, null]);
});

test("times are summed by tier", () => {
  const time = (tier: string, median_ms: number) => ({
    tier,
    check: "c",
    median_ms,
    longest_ms: median_ms,
  });
  const tiers = byTier([time("T0", 2), time("T1", 3), time("T1", 4)]);
  expect(tiers.map(({ tier, medianMs }) => [tier, medianMs])).toEqual([
    ["T0", 2],
    ["T1", 7],
  ]);
  expect([0.42, 12.4, 1240].map(shortTime)).toEqual(["0.4 ms", "12 ms", "1.2 s"]);
});

test("equivalent mutants do not count", () => {
  const summary = summaryOf([made("a", "test"), made("b", ""), made("c", "", "it is the same")]);
  expect(summary).toMatchObject({ killed: 1, counted: 2 });
  expect(summary.equivalent.map(({ id }) => id)).toEqual(["c"]);
  expect(summaryOf([made("c", "", "same")]).counted).toBe(0);
});

test("a diff is its lines without headings", () => {
  const diff = "--- a\n+++ b\n@@ -1 +1 @@\n x = 1\n-return x\n+return -x\n";
  expect(diffLines(diff)).toEqual([
    { kind: "same", text: "x = 1" },
    { kind: "removed", text: "return x" },
    { kind: "added", text: "return -x" },
  ]);
});
