import { expect, test } from "vitest";

import { isShortCode } from "./code";

test.each(["positions", "ValueError", "x: int | None"])("%s stays whole in a table", (code) => {
  expect(isShortCode(code)).toBe(true);
});

test.each(["scaled_dot_product_attention", "f(query, keys_and_values)"])(
  "%s may be broken in a table",
  (code) => {
    expect(isShortCode(code)).toBe(false);
  },
);
