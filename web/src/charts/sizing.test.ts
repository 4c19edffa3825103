import { describe, expect, test } from "vitest";

import type { Spec } from "./json";
import { nextStretch, reservedHeight, widthStretch } from "./sizing";

const plot = (height: number): Spec => ({ mark: "bar", height });
const rows = { values: [{ row: "a" }, { row: "b" }, { row: "c" }] };

describe("the reserved height", () => {
  test("grows with a plot, line by line of a facet, and with what is stacked", () => {
    const one = reservedHeight(plot(200));
    expect(reservedHeight(plot(300))).toBe(one + 100);
    const facet = { data: rows, facet: { row: { field: "row" } }, spec: plot(200) };
    expect(reservedHeight(facet)).toBeGreaterThan(600);
    expect(reservedHeight({ vconcat: [plot(200), plot(200)] })).toBeGreaterThan(400);
    expect(reservedHeight({ hconcat: [plot(200), plot(200)] })).toBe(one);
  });

  test("wraps a facet into columns", () => {
    const facet = { data: rows, facet: { field: "row" }, spec: plot(200) };
    const lines = [1, 2, 3].map((columns) => reservedHeight({ ...facet, columns }));
    expect(lines[0]).toBeGreaterThan(lines[1] ?? 0);
    expect(lines[1]).toBeGreaterThan(lines[2] ?? 0);
  });

  test("counts the steps of a discrete axis", () => {
    const spec = (step: number): Spec => ({
      data: rows,
      mark: "bar",
      height: { step },
      encoding: { y: { field: "row" } },
    });
    expect(reservedHeight(spec(90)) - reservedHeight(spec(80))).toBe(3 * 10);
  });

  test("makes room for a legend, unless there is none", () => {
    const coloured = (legend: Spec): Spec => ({
      ...plot(200),
      encoding: { color: { field: "row", ...legend } },
    });
    expect(reservedHeight(coloured({}))).toBeGreaterThan(
      reservedHeight(coloured({ legend: null })),
    );
  });

  test("stays within bounds, whatever a specification says", () => {
    expect(reservedHeight(plot(1e9))).toBe(1200);
    expect(reservedHeight(plot(-5))).toBe(120);
    expect(reservedHeight({})).toBeGreaterThan(120);
  });
});

describe("fitting", () => {
  const free = { least: 0.1, most: 10 };
  const measured = (stretch: number) => ({ stretch, length: 100 + 400 * stretch });

  test("is exact after two tries, as axes do not grow with plots", () => {
    const second = nextStretch(null, measured(1), 300, free);
    const third = nextStretch(measured(1), measured(second), 300, free);
    expect(measured(third).length).toBeCloseTo(300);
  });

  test("stops at its bounds", () => {
    expect(nextStretch(null, measured(1), 10, { least: 0.5, most: 2 })).toBe(0.5);
    expect(nextStretch(null, measured(1), 9999, { least: 0.5, most: 2 })).toBe(2);
  });

  test("changes nothing where stretching does not help", () => {
    const stuck = { stretch: 2, length: 300 };
    expect(nextStretch({ stretch: 1, length: 300 }, stuck, 100, free)).toBe(2);
  });

  test("leaves no plot too narrow to read, and widens none that is", () => {
    expect(widthStretch([128, 360]).least).toBe(0.5);
    expect(widthStretch([40]).least).toBe(1);
  });
});
