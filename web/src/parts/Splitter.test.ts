import { expect, test } from "vitest";

import { bounded, moved } from "./Splitter";

test("a share stays between its bounds", () => {
  expect(bounded(-5)).toBe(20);
  expect(bounded(44.44)).toBe(44.4);
  expect(bounded(200)).toBe(80);
});

test("a standing line moves left and right only", () => {
  expect(moved(50, "ArrowLeft", true)).toBe(48);
  expect(moved(50, "ArrowRight", true)).toBe(52);
  expect(moved(50, "ArrowUp", true)).toBeNull();
});

test("a lying line moves up and down only", () => {
  expect(moved(50, "ArrowUp", false)).toBe(48);
  expect(moved(50, "ArrowDown", false)).toBe(52);
  expect(moved(50, "ArrowRight", false)).toBeNull();
});

test("Home and End go to the bounds", () => {
  expect(moved(50, "Home", true)).toBe(20);
  expect(moved(50, "End", true)).toBe(80);
});
