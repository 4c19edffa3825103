import { expect, test } from "vitest";

import { addressFrom, hrefOf } from "./address";

test("an address says what it was made of", () => {
  const address = { tab: "history", submission: "a/b" } as const;
  const url = new URL(hrefOf("attention", address), "http://judge");
  expect(url.pathname).toBe("/problems/attention");
  expect(addressFrom(Object.fromEntries(url.searchParams))).toEqual(address);
});

test("what is usual is left out", () => {
  expect(hrefOf("attention", { tab: "statement", submission: null })).toBe("/problems/attention");
});

test("a tab that does not exist is the statement", () => {
  expect(addressFrom({ tab: "nothing" })).toEqual({ tab: "statement", submission: null });
});
