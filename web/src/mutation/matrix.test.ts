import { expect, test } from "vitest";

import type { Mutation } from "../api/types";
import { demands, matrixOf, shortLabels, shortNames } from "./matrix";

const MUTATION: Mutation = {
  score: 2 / 3,
  threshold: 0.8,
  tests: ["tests/test_own.py::test_sum", "tests/test_own.py::test_mask"],
  mutants: ["s01-merge", "s02-split", "s08-no-projection"],
  matrix: [
    [true, true, false],
    [true, false, false],
  ],
  survivors: ["s08-no-projection"],
  must_kill: ["s01-merge", "s02-split"],
  symptoms: { "s08-no-projection": "Heads never mix." },
  titles: { "s01-merge": "Merged without the transpose" },
  flaky: ["tests/test_own.py::test_mask"],
};

test("columns say what became of each mutant", () => {
  const { columns } = matrixOf(MUTATION);
  expect(columns.map(({ label, killers, survived, mustKill }) => [label, killers, survived, mustKill]))
    .toEqual([
      ["s01", 2, false, true],
      ["s02", 1, false, true],
      ["s08", 0, true, false],
    ]); // prettier-ignore
  expect(columns[2]).toMatchObject({ symptom: "Heads never mix.", title: null });
});

test("rows say what each test notices, and which of them are flaky", () => {
  const { rows } = matrixOf(MUTATION);
  expect(rows.map(({ name, killed, isFlaky }) => [name, killed, isFlaky])).toEqual([
    ["test_sum", 2, false],
    ["test_mask", 1, true],
  ]);
});

test("a matrix with rows that are too short has no mutant killed there", () => {
  const { rows } = matrixOf({ ...MUTATION, matrix: [[true]] });
  expect(rows.map(({ kills }) => kills)).toEqual([
    [true, false, false],
    [false, false, false],
  ]);
});

test("mutants that are not numbered are told by their place, not by their mistake", () => {
  expect(shortLabels(["no-scale", "swapped"])).toEqual(["m1", "m2"]);
  expect(shortLabels(["s1-a", "s1-b"])).toEqual(["m1", "m2"]);
});

test("tests are named with their file where there are several", () => {
  expect(shortNames(["tests/test_a.py::test_x", "tests/test_b.py::test_x"])).toEqual([
    "test_a::test_x",
    "test_b::test_x",
  ]);
  expect(shortNames(["test_x"])).toEqual(["test_x"]);
});

test("each demand says whether it is met", () => {
  expect(demands(MUTATION).map(({ isMet }) => isMet)).toEqual([false, true, false]);
  const survivors = ["s02-split"];
  const missed = demands({ ...MUTATION, score: 0.9, survivors, flaky: [] });
  expect(missed).toEqual([
    { isMet: true, words: "2 of 3 mutants noticed" },
    { isMet: false, words: "1 of 2 pitfalls not noticed: s02" },
  ]);
});
