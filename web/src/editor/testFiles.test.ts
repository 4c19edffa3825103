import { expect, test } from "vitest";

import { freeName, isTestFile, nameFault, testFile } from "./testFiles";

test("a file of tests lies in its folder and has the name that pytest looks for", () => {
  expect(isTestFile("tests/test_own.py")).toBe(true);
  for (const name of ["test_own.py", "tests/own.py", "tests/a/test_b.py", "tests/test_ä.py"]) {
    expect(isTestFile(name)).toBe(false);
  }
});

test("what is typed becomes such a name, however much of it was typed", () => {
  for (const typed of ["masks", " test_masks ", "test_masks.py", "tests/test_masks.py"]) {
    expect(testFile(typed)).toBe("tests/test_masks.py");
  }
});

test("a name that is taken or cannot be is refused in words", () => {
  expect(nameFault("tests/test_own.py", [])).toBeNull();
  expect(nameFault("tests/test_own.py", ["tests/test_own.py"])).toContain("already");
  expect(nameFault("tests/test_my tests.py", [])).toContain("underscores");
});

test("a new file has a name of its own", () => {
  expect(freeName([])).toBe("tests/test_more.py");
  expect(freeName(["tests/test_more.py", "tests/test_more_2.py"])).toBe("tests/test_more_3.py");
});
