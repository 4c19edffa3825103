import { expect, test } from "vitest";

import { choose, EDITOR, fileNames, leftToRight, REFERENCE } from "./comparing";

test("two at most are chosen; the first gives way", () => {
  expect(choose([], "a")).toEqual(["a"]);
  expect(choose(["a", "b"], "c")).toEqual(["b", "c"]);
  expect(choose(["a", "b"], "a")).toEqual(["b"]);
});

test("older is left of newer, the editor right of it, the reference last", () => {
  const newestFirst = ["c", "b", "a"];
  expect(leftToRight(["c", "a"], newestFirst)).toEqual(["a", "c"]);
  expect(leftToRight([EDITOR, "c"], newestFirst)).toEqual(["c", EDITOR]);
  expect(leftToRight([REFERENCE, EDITOR], newestFirst)).toEqual([EDITOR, REFERENCE]);
});

test("files of either side are named once", () => {
  const left = { title: "", files: { "solution.py": "", "old.py": "" } };
  const right = { title: "", files: { "tests.py": "", "solution.py": "" } };
  expect(fileNames(left, right)).toEqual(["solution.py", "old.py", "tests.py"]);
});
