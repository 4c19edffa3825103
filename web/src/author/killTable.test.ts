import { expect, test } from "vitest";

import { killTable } from "./killTable";

const TIERS: Record<string, string> = {
  "t0::test_call": "T0",
  "t1::test_sum": "T1",
  "t1::test_heads[2]": "T1",
};
const CHECKS = Object.keys(TIERS);

const table = (failed: string[], tier = "T1") =>
  killTable(
    { checks: CHECKS, rows: [{ mutant: "halved", title: "Halved", tier, pitfall: true, failed }] },
    (check) => TIERS[check] ?? "",
  );
const line = (failed: string[], tier?: string) => table(failed, tier).lines[0];

test("checks stand in their tiers, by their short names", () => {
  const { columns, groups } = table([]);
  expect(columns.map(({ name }) => name)).toEqual(["call", "sum", "heads[2]"]);
  expect(groups).toEqual([
    { tier: "T0", columns: 1 },
    { tier: "T1", columns: 2 },
  ]);
});

test("a mutant is marked where it is rejected, and where it should be", () => {
  expect(line(["t1::test_sum"])?.marks).toEqual(["none", "here", "missed"]);
  expect(line(["t1::test_sum"])?.wrong).toBeNull();
});

test("a mutant that no check notices is wrong", () => {
  expect(line([])?.wrong).toBe("No check notices it; T1 should.");
});

test("a mutant that another tier rejects first is wrong", () => {
  expect(line(["t1::test_sum", "t0::test_call"])).toMatchObject({
    marks: ["elsewhere", "here", "missed"],
    wrong: "T0 rejects it, not T1.",
  });
  expect(line(["t1::test_sum"], "T0")?.wrong).toBe("T1 rejects it, not T0.");
});
