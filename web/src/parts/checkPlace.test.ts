import { expect, test } from "vitest";

import { isCaseOf } from "./checkPlace";

test("a check and each of its cases are meant by its name, and no other check is", () => {
  expect(isCaseOf("t1::test_sizes", "t1::test_sizes")).toBe(true);
  expect(isCaseOf("t1::test_sizes[3]", "t1::test_sizes")).toBe(true);
  expect(isCaseOf("t1::test_sizes_too", "t1::test_sizes")).toBe(false);
  expect(isCaseOf("t2::test_sizes", "t1::test_sizes")).toBe(false);
});
