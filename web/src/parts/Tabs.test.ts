import { expect, test } from "vitest";

import { neighbour } from "./Tabs";

const IDS = ["a", "b", "c"] as const;

test("arrows go round", () => {
  expect(neighbour(IDS, "a", "ArrowRight")).toBe("b");
  expect(neighbour(IDS, "c", "ArrowRight")).toBe("a");
  expect(neighbour(IDS, "a", "ArrowLeft")).toBe("c");
});

test("Home and End go to the ends", () => {
  expect(neighbour(IDS, "b", "Home")).toBe("a");
  expect(neighbour(IDS, "b", "End")).toBe("c");
});

test("other keys are left alone", () => {
  expect(neighbour(IDS, "b", "Enter")).toBeNull();
});
