import { expect, test } from "vitest";

import type { Json } from "./json";
import { columnsOf } from "./numbers";

const cells = (...values: Json[]) => columnsOf(values.map((value) => ({ value })))[0]?.cells;

test("numbers of a column have the same decimals, so that their points align", () => {
  expect(cells(0.6, 0.125, -2)).toEqual(["0.600", "0.125", "−2.000"]);
  expect(cells(1, 20, 300)).toEqual(["1", "20", "300"]);
});

test("no more digits than matter", () => {
  expect(cells(1 / 3)).toEqual(["0.333333"]);
  expect(cells(0.1 + 0.2)).toEqual(["0.3"]);
});

test("very small and very large numbers are powers of ten", () => {
  expect(cells(1.5e-9, 0.5, -123456789.25)).toEqual(["1.5e-9", "0.5", "−1.235e+8"]);
  expect(cells(1e-300)).toEqual(["1e-300"]);
});

test("a zero has no sign", () => {
  expect(cells(-0, 0.25)).toEqual(["0.00", "0.25"]);
});

test("what is not finite stands among numbers, in words", () => {
  const [column] = columnsOf([{ value: "NaN" }, { value: 0.5 }, { value: "-Infinity" }]);
  expect(column).toEqual({
    name: "value",
    numeric: true,
    cells: ["NaN", "0.5", "−Infinity"],
  });
});

test("texts stay as they are, and what is missing is a dash", () => {
  const columns = columnsOf([
    { a: "<b>6/10</b>", b: true },
    { b: null, c: { d: [1] } },
  ]);
  expect(columns).toEqual([
    { name: "a", numeric: false, cells: ["<b>6/10</b>", "–"] },
    { name: "b", numeric: false, cells: ["true", "–"] },
    { name: "c", numeric: false, cells: ["–", '{"d":[1]}'] },
  ]);
});
