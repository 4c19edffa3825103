import { expect, test } from "vitest";

import { editedParts, lineChanges } from "./lineDiff";

/** The lines of a text that differ. */
const differing = (left: string, right: string) =>
  lineChanges(left, right).map(({ fromA, toA, fromB, toB }) => [
    left.slice(fromA, toA),
    right.slice(fromB, toB),
  ]);

test("equal lines are not marked, however different the others are", () => {
  const left = "import torch\n\n\ndef f(x):\n    raise NotImplementedError\n";
  const right = "import torch\n\n\ndef f(x):\n    y = x @ x\n    return y.sum()\n";
  expect(differing(left, right)).toEqual([
    ["    raise NotImplementedError\n", "    y = x @ x\n    return y.sum()\n"],
  ]);
});

test("what was only added or removed stands against nothing", () => {
  expect(differing("a\nb\n", "a\nnew\nb\n")).toEqual([["", "new\n"]]);
  expect(differing("a\nold\nb\n", "a\nb\n")).toEqual([["old\n", ""]]);
  expect(differing("a\n", "a\n")).toEqual([]);
});

test("inside of a line only what was edited is marked", () => {
  const [left, right] = ["a\n    scale = width**0.5\n", "a\n    scale = head**0.5\n"];
  const { left: old, right: now } = editedParts(left, right);
  expect(old.map(({ from, to }) => left.slice(from, to))).toEqual(["width"]);
  expect(now.map(({ from, to }) => right.slice(from, to))).toEqual(["head"]);
});

test("of another line no letters are marked", () => {
  expect(editedParts("    raise NotImplementedError\n", "    return x @ w\n").left).toEqual([]);
});
