import { expect, test } from "vitest";

import { inputOf } from "./interpreter";

test("the input of a session is what stands behind its prompts", () => {
  const session = [">>> def f():", "...     return 1", "...", ">>> f()", "1", ""].join("\n");
  expect(inputOf(session)).toBe("def f():\n    return 1\n\nf()\n");
});

test("other code is no session", () => {
  expect(inputOf("x = 1\n")).toBe("");
  expect(inputOf("... and so on")).toBe("");
});
