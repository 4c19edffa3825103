import { expect, test } from "vitest";

import { difference } from "./buffers";

test.each([
  ["", "a", { from: 0, to: 0, insert: "a" }],
  ["a", "", { from: 0, to: 1, insert: "" }],
  ["abc", "axc", { from: 1, to: 2, insert: "x" }],
  ["aa", "aaa", { from: 2, to: 2, insert: "a" }],
  ["aaa", "aa", { from: 2, to: 3, insert: "" }],
  ["x = 1\ny = 2\n", "x = 1\nz = 3\n", { from: 6, to: 11, insert: "z = 3" }],
])("the difference from %j to %j is what lies between", (old, next, change) => {
  expect(difference(old, next)).toEqual(change);
  expect(old.slice(0, change.from) + change.insert + old.slice(change.to)).toBe(next);
});

test("equal texts do not differ", () => {
  expect(difference("same", "same")).toBeNull();
});
