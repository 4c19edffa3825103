import { expect, test } from "vitest";

import { stroke } from "./shortcuts";

const NAMES = ["?", "g s", "g h"];

test("a single key is a shortcut at once", () => {
  expect(stroke(NAMES, null, "?")).toEqual({ shortcut: "?", waiting: null });
});

test("the first key of a pair does nothing but wait", () => {
  expect(stroke(NAMES, null, "g")).toEqual({ shortcut: null, waiting: "g" });
});

test("the second key of a pair completes it", () => {
  expect(stroke(NAMES, "g", "h")).toEqual({ shortcut: "g h", waiting: null });
});

test("another key after the first of a pair counts by itself", () => {
  expect(stroke(NAMES, "g", "?")).toEqual({ shortcut: "?", waiting: null });
  expect(stroke(NAMES, "g", "x")).toEqual({ shortcut: null, waiting: null });
});

test("the first key twice still begins a pair", () => {
  expect(stroke(NAMES, "g", "g")).toEqual({ shortcut: null, waiting: "g" });
});

test("the second key of a pair alone does nothing", () => {
  expect(stroke(NAMES, null, "s")).toEqual({ shortcut: null, waiting: null });
});
