import { expect, test } from "vitest";

import { comparedLines } from "./compare";

const sames = (expected: string, got: string) =>
  comparedLines(expected, got).map(({ isSame }) => isSame);

test("lines that are the same are the same, whatever ends them", () => {
  expect(sames("a\nb\n", "a  \r\nb\n\n")).toEqual([true, true]);
});

test("a line that differs is marked, and no other", () => {
  expect(sames("a\nb\nc", "a\nB\nc")).toEqual([true, false, true]);
});

test("lines that are missing or too many differ", () => {
  expect(comparedLines("a\nb", "a")).toEqual([
    { expected: "a", got: "a", isSame: true },
    { expected: "b", got: null, isSame: false },
  ]);
  expect(sames("a", "a\nb")).toEqual([true, false]);
});

test("spaces at the beginning of a line count", () => {
  expect(sames("[[1]\n [2]]", "[[1]\n[2]]")).toEqual([true, false]);
});
