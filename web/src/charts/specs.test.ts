import { expect, test } from "vitest";

import type { Chart } from "../api/types";
import type { JsonRecord, Spec } from "./json";
import { narrowed, selfContained, Undrawable } from "./specs";

const chart = (spec: Chart["spec"]): Chart => ({
  id: "weights",
  tier: "T3",
  title: "Weights",
  source: "submission",
  spec,
  table: [{ x: 1 }],
});

test("the table is what is drawn where a specification has no data", () => {
  expect(selfContained(chart({ mark: "bar" }))).toEqual({
    data: { values: [{ x: 1 }] },
    mark: "bar",
  });
});

test.each([
  { data: { url: "https://example.org/data.json" } },
  { layer: [{ data: { url: "/api/problems" }, mark: "bar" }] },
  { transform: [{ lookup: "x", from: { data: { url: "data.csv" }, key: "x" } }] },
  { mark: "image", encoding: { url: { value: "https://example.org/picture.png" } } },
])("an address is refused, however deep it is: %j", (spec) => {
  expect(() => selfContained(chart(spec))).toThrow(Undrawable);
});

test("named data sets become rows where they are named", () => {
  const spec = {
    datasets: { some: [{ x: 2 }] },
    hconcat: [{ data: { name: "some" }, mark: "bar" }],
  };
  expect(selfContained(chart(spec))).toEqual({
    data: { values: [{ x: 1 }] },
    hconcat: [{ data: { values: [{ x: 2 }] }, mark: "bar" }],
  });
});

test("in a narrow place a plot has as many ticks below it as there is room for", () => {
  const spec = (axis: JsonRecord): Spec => ({
    data: { values: [{ x: { axis: { tickCount: 4 } } }] },
    spec: { layer: [{ encoding: { x: { field: "x", axis } } }] },
  });
  expect(narrowed(spec({ tickCount: 4, title: "weight" }))).toEqual(spec({ title: "weight" }));
});
