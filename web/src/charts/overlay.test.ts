import { describe, expect, test } from "vitest";

import type { Json, Row, Spec } from "./json";
import { beside, joinRows, overlay } from "./overlay";

const TARGET = "exact";

function bars(source: string, number: number): Spec {
  const scale = (looks: Record<string, Json>) => ({
    domain: [source, TARGET],
    range: [looks[source] ?? null, looks[TARGET] ?? null],
  });
  return {
    description: `Weights: ${source} and exact.`,
    data: { values: [{ key: "a", [source]: number, [TARGET]: 1 }] },
    transform: [{ fold: [source, TARGET], as: ["series", "number"] }],
    mark: "bar",
    encoding: {
      fill: {
        field: "series",
        scale: scale({ submission: "blue", reference: "green", exact: "red" }),
      },
      strokeDash: {
        field: "series",
        scale: scale({ submission: [1, 0], reference: [2, 2], exact: [4, 2] }),
      },
    },
  };
}

describe("one specification with the series of both", () => {
  test("gets both names, and the looks of each at its place", () => {
    expect(overlay(bars("submission", 0.5), bars("reference", 0.25))).toEqual({
      description: "Weights: submission, reference and exact.",
      data: { values: [{ key: "a", submission: 0.5, reference: 0.25, exact: 1 }] },
      transform: [{ fold: ["submission", "reference", "exact"], as: ["series", "number"] }],
      mark: "bar",
      encoding: {
        fill: {
          field: "series",
          scale: { domain: ["submission", "reference", "exact"], range: ["blue", "green", "red"] },
        },
        strokeDash: {
          field: "series",
          scale: {
            domain: ["submission", "reference", "exact"],
            range: [
              [1, 0],
              [2, 2],
              [4, 2],
            ],
          },
        },
      },
    });
  });

  test("draws a layer twice that shows one of them alone", () => {
    const lines = (source: string): Spec => ({
      layer: [
        { mark: "line", encoding: { y: { field: source } } },
        { mark: "rule", encoding: { y: { field: TARGET } } },
      ],
    });
    expect(overlay(lines("submission"), lines("reference"))).toEqual({
      layer: [
        { mark: "line", encoding: { y: { field: "submission" } } },
        { mark: "line", encoding: { y: { field: "reference" } } },
        { mark: "rule", encoding: { y: { field: TARGET } } },
      ],
    });
  });

  test("spans both ranges of numbers", () => {
    const scaled = (least: number, most: number): Spec => ({ scale: { domain: [least, most] } });
    expect(overlay(scaled(0, 3), scaled(-1, 2))).toEqual({ scale: { domain: [-1, 3] } });
  });

  test.each<[string, Spec, Spec]>([
    ["another mark", { mark: "bar" }, { mark: "line" }],
    ["another key", { mark: "bar" }, { mark: "bar", width: 3 }],
    ["another field", { x: { field: "submission" } }, { x: { field: "reference" } }],
    ["more of a list", { sort: ["a"] }, { sort: ["a", "b"] }],
    ["other words", { title: "Yours" }, { title: "The reference" }],
    ["rows without a source", { data: { values: [{ x: 1 }] } }, { data: { values: [{ x: 2 }] } }],
  ])("does not exist where there is %s", (_, yours, reference) => {
    expect(overlay(yours, reference)).toBeNull();
  });
});

describe("rows of both", () => {
  test("are joined by everything that is not their number, in any order", () => {
    const yours: Row[] = [
      { key: "a", submission: 1 },
      { key: "b", submission: "NaN" },
    ];
    const reference: Row[] = [
      { key: "b", reference: 4 },
      { reference: 3, key: "a" },
    ];
    expect(joinRows(yours, reference)).toEqual([
      { key: "a", submission: 1, reference: 3 },
      { key: "b", submission: "NaN", reference: 4 },
    ]);
  });

  test("follow one another where a column names the series, the shared ones once", () => {
    const rows = (source: string): Row[] => [
      { series: source, y: 1 },
      { series: TARGET, y: 2 },
    ];
    expect(joinRows(rows("submission"), rows("reference"))).toEqual([
      { series: "submission", y: 1 },
      { series: TARGET, y: 2 },
      { series: "reference", y: 1 },
    ]);
  });

  test("are not joined when they are about different things", () => {
    const yours = [{ key: "a", submission: 1 }];
    expect(joinRows(yours, [{ key: "b", reference: 1 }])).toBeNull();
    expect(joinRows(yours, [])).toBeNull();
  });
});

test("charts beside each other share their scales and leave the outermost words out", () => {
  const spec: Spec = { $schema: "v6", config: {}, mark: "bar" };
  expect(beside(spec, spec, true)).toEqual({
    hconcat: [
      { mark: "bar", title: "Your submission" },
      { mark: "bar", title: "Reference" },
    ],
    resolve: { scale: { x: "shared", y: "shared" } },
  });
  expect(beside(spec, spec, false)).toHaveProperty("vconcat");
});
