import { expect, test } from "vitest";

import type { Progress } from "../api/types";
import { card, catalogueOf } from "./examples";
import { countWords, nextRow, rowsOf, stateWords, tierMarks } from "./rows";

const failed = {
  state: "failed",
  failed_tier: "T2",
  submissions: 3,
  last_at: "2026-01-01T12:00:00Z",
} as const;
const FAILED_MS = Date.parse(failed.last_at);

const noDraft = () => null;

test("rows stand by track, then number; unknown tracks come last", () => {
  const catalogue = catalogueOf(
    card("d", { track: "unknown" }),
    card("c", { track: "course", number: 1 }),
    card("b", { number: 10 }),
    card("a", { number: 2 }),
  );
  const rows = rowsOf(catalogue, noDraft);
  expect(rows.map((row) => row.problem.slug)).toEqual(["a", "b", "c", "d"]);
  expect(rows.map((row) => row.trackTitle)).toEqual(["Papers", "Papers", "Course", "unknown"]);
});

test("a draft is told only where nothing was submitted", () => {
  const catalogue = catalogueOf(card("a"), card("b", { progress: failed }));
  const [drafted, judged] = rowsOf(catalogue, () => 1);
  expect(drafted?.state).toBe("draft");
  expect(judged?.state).toBe("failed");
});

test("the last work is the newer of submission and draft", () => {
  const times = [null, FAILED_MS - 1, FAILED_MS + 1].map(
    (draftMs) => rowsOf(catalogueOf(card("a", { progress: failed })), () => draftMs)[0]?.lastWorkMs,
  );
  expect(times).toEqual([FAILED_MS, FAILED_MS, FAILED_MS + 1]);
  expect(rowsOf(catalogueOf(card("a")), noDraft)[0]?.lastWorkMs).toBeNull();
});

test("a failed exercise names its tier where that is known", () => {
  const catalogue = catalogueOf(
    card("a", { progress: failed }),
    card("b", { progress: { ...failed, failed_tier: null } }),
    card("c"),
  );
  const words = rowsOf(catalogue, noDraft).map(stateWords);
  expect(words).toEqual(["Failed at T2", "Failed", "Untouched"]);
});

test("where tests are taken too, what is left is said", () => {
  const half = { ...failed, failed_tier: null };
  const catalogue = catalogueOf(
    card("a", { progress: { ...half, tests: "untouched" } }),
    card("b", { progress: { ...failed, tests: "passed" } }),
    card("c", { progress: { ...half, tests: "failed" } }),
    card("d", { progress: { ...failed, tests: "untouched" } }),
    card("e", { progress: { ...failed, state: "solved", tests: "passed" } }),
  );
  expect(rowsOf(catalogue, noDraft).map((row) => [row.state, stateWords(row)])).toEqual([
    ["partly", "Solution passed, tests not yet"],
    ["partly", "Tests passed, solution not yet"],
    ["failed", "Tests not accepted yet"],
    ["failed", "Failed at T2"],
    ["solved", "Solved"],
  ]);
});

test("tiers are marked as far as the student has come", () => {
  const tiers = ["T0", "T1", "T2"].map((id) => ({ id, title: "", advisory: false }));
  const marks = (progress: Partial<Progress>) =>
    tierMarks(card("a", { tiers, progress: { ...failed, ...progress } }));
  expect(marks({ failed_tier: "T1" })).toEqual(["passed", "failed", "open"]);
  expect(marks({ state: "solved", failed_tier: null })).toEqual(["passed", "passed", "passed"]);
  expect(marks({ failed_tier: null })).toEqual(["open", "open", "open"]);
});

test("a tier that counts for nothing has no mark", () => {
  const tiers = [
    { id: "T0", title: "", advisory: false },
    { id: "T1", title: "", advisory: true },
  ];
  expect(tierMarks(card("a", { tiers, progress: failed }))).toHaveLength(1);
});

test("numbers in words", () => {
  const rows = rowsOf(
    catalogueOf(card("a", { progress: { ...failed, state: "solved" } })),
    noDraft,
  );
  expect(countWords(rows)).toBe("1 exercise, 1 solved");
  expect(countWords([])).toBe("0 exercises");
});

test("keys move between rows and stop at the ends", () => {
  expect(nextRow("j", -1, 3)).toBe(0);
  expect(nextRow("ArrowDown", 1, 3)).toBe(2);
  expect(nextRow("j", 2, 3)).toBe(2);
  expect(nextRow("k", 0, 3)).toBe(0);
  expect(nextRow("ArrowUp", 2, 3)).toBe(1);
  expect(nextRow("x", 1, 3)).toBeNull();
  expect(nextRow("j", -1, 0)).toBeNull();
});
