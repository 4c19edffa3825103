import { expect, test } from "vitest";

import { card, catalogueOf } from "./examples";
import { addressOf, choicesOf, filtered, filtersOf, matching } from "./filters";
import { rowsOf } from "./rows";

const ROWS = rowsOf(
  catalogueOf(
    card("attention", { title: "Multi-head attention", tags: ["torch", "attention"] }),
    card("kendall", { title: "Kendall’s τ", summary: "A naïve count", tags: ["numpy"] }),
    card("softmax", { track: "course", number: 12, tags: ["numpy"] }),
  ),
  (slug) => (slug === "kendall" ? 1 : null),
);

const shown = (query: string) => matching(ROWS, filtersOf(query)).map((row) => row.problem.slug);

test("an address and its filters are the same thing", () => {
  const query = "q=two+words+%26&track=papers&tag=torch&state=failed";
  expect(addressOf("/", filtersOf(query))).toBe(`/?${query}`);
  expect(addressOf("/tracks/papers", filtersOf(""))).toBe("/tracks/papers");
});

test("what an address says wrongly is left out", () => {
  expect(filtersOf("state=perfect&other=1&%E0%A4%A")).toEqual(filtersOf(""));
  expect(filtered(filtersOf("q=++"))).toBe(false);
  expect(filtered(filtersOf("tag=x"))).toBe(true);
});

test("a search finds all words, anywhere, without accents or capitals", () => {
  expect(shown("q=ATTENTION+multi")).toEqual(["attention"]);
  expect(shown("q=naive")).toEqual(["kendall"]);
  expect(shown("q=course+12")).toEqual(["softmax"]);
  expect(shown("q=attention+numpy")).toEqual([]);
});

test("filters hold together", () => {
  expect(shown("tag=numpy")).toEqual(["kendall", "softmax"]);
  expect(shown("tag=numpy&track=course")).toEqual(["softmax"]);
  expect(shown("state=draft")).toEqual(["kendall"]);
  expect(shown("track=nowhere")).toEqual([]);
});

test("choices count what they would show, the chosen one included", () => {
  expect(choicesOf(ROWS, filtersOf("track=papers&tag=torch"), "tag")).toEqual([
    { value: "attention", count: 1 },
    { value: "numpy", count: 1 },
    { value: "torch", count: 1 },
  ]);
  expect(choicesOf(ROWS, filtersOf("track=nowhere"), "track")).toContainEqual({
    value: "nowhere",
    count: 0,
  });
  expect(choicesOf(ROWS, filtersOf(""), "state").map(({ count }) => count)).toEqual([
    2, 1, 0, 0, 0,
  ]);
});
