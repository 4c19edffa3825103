import { expect, test } from "vitest";

import type { TierToPass } from "../api/types";
import { courseTests } from "./tests";

const tier = (id: string, checks: [string, string][]): TierToPass => ({
  id,
  title: "",
  about: "",
  requires: [],
  visible: true,
  advisory: false,
  checks: checks.map(([check, kind]) => ({ id: check, title: "It holds.", kind, why: "Because." })),
});

test("each test is a row with its kind and tier, in the order of the tiers", () => {
  const rows = courseTests([
    tier("T0", [["test_t0::test_names", "unit"]]),
    tier("T1", [["test_t1::test_golden", "golden"]]),
  ]);
  expect(rows.map(({ name, kind, tier: of }) => [name, kind, of])).toEqual([
    ["test_names", "unit", "T0"],
    ["test_golden", "golden", "T1"],
  ]);
});

test("cases of a test are counted, not listed", () => {
  const rows = courseTests([tier("T1", [["t::test_a[1]", "unit"], ["t::test_a[2]", "unit"]])]); // prettier-ignore
  expect(rows).toMatchObject([{ id: "t::test_a", cases: 2, why: "Because." }]);
});

test("before the checks are read there are no rows", () => {
  expect(courseTests([tier("T0", [])])).toEqual([]);
});
