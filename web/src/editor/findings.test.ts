import { Text } from "@codemirror/state";
import { expect, test } from "vitest";

import { diagnosticsOf, editsOf } from "./findings";
import type { Finding } from "./ruff.worker";

const place = (row: number, column: number) => ({ row, column });

function finding(code: string | null, start: [number, number], end: [number, number]): Finding {
  return {
    code,
    message: `about ${code}`,
    tags: code === "F401" ? ["unnecessary"] : [],
    annotations: [],
    subDiagnostics: [],
    start_location: place(...start),
    end_location: place(...end),
    fix: null,
  };
}

const doc = Text.of(["import os", "", "x = zzz"]);

test("a finding marks its characters and says its code", () => {
  expect(diagnosticsOf([finding("F821", [3, 5], [3, 8])], doc)).toEqual([
    {
      from: 15,
      to: 18,
      severity: "error",
      source: "ruff F821",
      message: "about F821",
      actions: [],
    },
  ]);
});

test.each([
  ["invalid-syntax", "error", "syntax"],
  [null, "error", "syntax"],
  ["F706", "error", "ruff F706"],
  ["F401", "info", "ruff F401"],
  ["F541", "warning", "ruff F541"],
  ["B006", "warning", "ruff B006"],
])("%s is an %s", (code, severity, source) => {
  const [diagnostic] = diagnosticsOf([finding(code, [1, 1], [1, 7])], doc);
  expect(diagnostic).toMatchObject({ severity, source });
});

test("a finding without extent marks one character", () => {
  const [diagnostic] = diagnosticsOf([finding("invalid-syntax", [1, 9], [1, 9])], doc);
  expect(diagnostic).toMatchObject({ from: 8, to: 9 });
});

test("a place behind the text is its end", () => {
  const [diagnostic] = diagnosticsOf([finding("invalid-syntax", [4, 1], [9, 9])], doc);
  expect(diagnostic).toMatchObject({ from: 18, to: 18 });
});

test("lines in front of the text are not its own", () => {
  const found = [finding("F821", [2, 1], [2, 2]), finding("F821", [7, 5], [7, 8])];
  const diagnostics = diagnosticsOf(found, doc, 4);
  expect(diagnostics).toMatchObject([{ from: 15, to: 18 }]);
});

test("importing again what the file before imported is no fault of the text", () => {
  expect(diagnosticsOf([finding("F811", [5, 8], [5, 10])], doc, 4)).toEqual([]);
  expect(diagnosticsOf([finding("F811", [1, 8], [1, 10])], doc)).toHaveLength(1);
});

test("a fix becomes changes of the text", () => {
  const fix = {
    message: "Remove unused import: `os`",
    edits: [
      { content: null, location: place(1, 1), end_location: place(2, 1) },
      { content: "y", location: place(3, 1), end_location: place(3, 2) },
    ],
  };
  expect(editsOf(fix, doc)).toEqual([
    { from: 0, to: 10, insert: "" },
    { from: 11, to: 12, insert: "y" },
  ]);
  const [diagnostic] = diagnosticsOf([{ ...finding("F401", [1, 8], [1, 10]), fix }], doc);
  expect(diagnostic?.actions?.map(({ name }) => name)).toEqual(["Remove unused import: `os`"]);
});

test("a fix that reaches into the lines in front is not offered", () => {
  const fix = {
    message: null,
    edits: [{ content: "x", location: place(1, 1), end_location: place(1, 1) }],
  };
  const [diagnostic] = diagnosticsOf([{ ...finding("F401", [3, 1], [3, 2]), fix }], doc, 2);
  expect(diagnostic?.actions).toEqual([]);
});
