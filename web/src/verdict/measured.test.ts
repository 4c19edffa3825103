import { expect, test } from "vitest";

import type { Detail } from "../api/types";
import { measured } from "./measured";

const DETAIL: Detail = {
  max_abs: 0.134,
  max_rel: 0.4123,
  at: [0, 1, 0, 4],
  limit: "rtol 1e-07, atol 1e-09",
  frames: [],
};

test("what the message says is not said again", () => {
  const message =
    "Output: largest error 0.134 at [0, 1, 0, 4]; the limit is rtol 1e-07, atol 1e-09.";
  expect(measured(message, DETAIL)).toBe("Relative error 0.412.");
});

test("what it does not say is", () => {
  expect(measured("The rows do not sum to 1.", { ...DETAIL, max_rel: null })).toBe(
    "Largest error 0.134, at [0, 1, 0, 4], the limit is rtol 1e-07, atol 1e-09.",
  );
  expect(measured("", { frames: [] })).toBe("");
  expect(measured("", null)).toBe("");
});
