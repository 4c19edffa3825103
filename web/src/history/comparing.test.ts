import { expect, test } from "vitest";

import { choose, EDITOR, fileNames, isAsIn, leftToRight, REFERENCE } from "./comparing";

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

test("only files that were sent count when they are compared with the editor's", () => {
  const editor = { "solution.py": "a = 1", "test_a.py": "" };
  expect(isAsIn(editor, { "solution.py": "a = 1" })).toBe(true);
  expect(isAsIn(editor, { "solution.py": "a = 2" })).toBe(false);
  expect(isAsIn(editor, { "gone.py": "" })).toBe(false);
});

test("files of either side are named once", () => {
  const left = { title: "", files: { "solution.py": "", "old.py": "" } };
  const right = { title: "", files: { "tests.py": "", "solution.py": "" } };
  expect(fileNames(left, right)).toEqual(["solution.py", "old.py", "tests.py"]);
});
