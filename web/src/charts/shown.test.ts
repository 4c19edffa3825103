import { expect, test } from "vitest";

import type { Chart } from "../api/types";
import { noteOn, pairs, shown } from "./shown";

function chart(source: Chart["source"], id = "weights", spec: Chart["spec"] = {}): Chart {
  const table = [{ key: "a", [source]: 1 }];
  return { id, tier: "T3", title: "Weights", source, spec: { mark: "bar", ...spec }, table };
}

test("charts are paired by id, those of the reference first", () => {
  const [first, second, third] = pairs(
    [chart("reference", "a"), chart("reference", "b")],
    [chart("submission", "c"), chart("submission", "b")],
  );
  expect([first?.id, second?.id, third?.id]).toEqual(["a", "b", "c"]);
  expect([first?.yours, third?.reference]).toEqual([null, null]);
  expect([second?.reference?.source, second?.yours?.source]).toEqual(["reference", "submission"]);
});

test("both are shown in one picture and one table", () => {
  const both = shown("both", chart("reference"), chart("submission"));
  const rows = [{ key: "a", submission: 1, reference: 1 }];
  expect(both?.specs?.wide.data).toEqual({ values: rows });
  expect(both?.tables.map((table) => table.rows)).toEqual([rows]);
});

test("what cannot be joined is shown beside each other", () => {
  const line = chart("submission", "weights", { mark: "line" });
  const both = shown("both", chart("reference"), line);
  expect(both?.specs?.wide).toHaveProperty("hconcat");
  expect(both?.specs?.narrow).toHaveProperty("vconcat");
});

test("why both are beside each other is said, where they are", () => {
  const line = chart("submission", "weights", { mark: "line" });
  const apart = pairs([chart("reference", "a"), chart("reference")], [line]);
  expect(noteOn("both", apart, true)).toContain("submit again");
  expect(noteOn("both", apart, false)).toContain("cannot be laid over each other");
  expect(noteOn("yours", apart, true)).toBeNull();
  const joined = pairs([chart("reference")], [chart("submission")]);
  expect(noteOn("both", joined, true)).toBeNull();
  const fetching = chart("submission", "weights", { data: { url: "https://example.org" } });
  expect(noteOn("both", pairs([chart("reference")], [fetching]), true)).toBeNull();
});

test("where one is missing the other is shown, and says so", () => {
  expect(shown("both", chart("reference"), null)?.choice).toBe("reference");
  expect(shown("reference", null, chart("submission"))?.choice).toBe("yours");
  expect(shown("both", null, null)).toBeNull();
});

test("a chart that would fetch has its table and no picture", () => {
  const fetching = chart("submission", "weights", { data: { url: "https://example.org" } });
  const alone = shown("yours", null, fetching);
  expect(alone?.specs).toBeNull();
  expect(alone?.tables[0]?.rows).toEqual(fetching.table);
});

test("a picture is described by its title, its source and its author's words", () => {
  const described = chart("reference", "weights", { description: "Three keys." });
  expect(shown("reference", described, null)?.description).toBe(
    "Weights. Reference preview. Three keys.",
  );
});
