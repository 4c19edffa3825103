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
  const measured = (stretch: number, legend = 0) => ({
    stretch,
    length: Math.ceil(Math.max(100 + 400 * stretch, legend)),
    plot: 400 * stretch,
  });
  const fitted = (length: number, legend: number) => {
    const tries = [measured(1, legend)];
    for (let round = 1; round <= 4; round += 1) {
      const [before, now] = [tries.at(-2) ?? null, tries.at(-1) ?? measured(1)];
      tries.push(measured(nextStretch(before, now, length, free), legend));
    }
    return tries.at(-1) ?? measured(1);
  };

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
    const stuck = { stretch: 2, length: 300, plot: 0 };
    expect(nextStretch({ ...stuck, stretch: 1 }, stuck, 100, free)).toBe(2);
  });

  test.each([305, 320, 400, 470])(
    "leaves plots as wide as there is room for below a legend of %d pixels",
    (legend) => {
      const { plot, length } = fitted(300, legend);
      expect(length).toBe(legend);
      expect(plot).toBeGreaterThan(190);
    },
  );

  test("is not held up by a legend that there is room for", () => {
    expect(fitted(300, 290).length).toBeCloseTo(300, -0.5);
    expect(fitted(800, 600).length).toBeCloseTo(800, -0.5);
  });

  test("leaves no plot too narrow to read, and widens none that is", () => {
    expect(widthStretch([128, 360]).least).toBe(0.5);
    expect(widthStretch([40]).least).toBe(1);
  });
});
