/** The tests of a chapter as rows of a table: cases of one function are one test. */
import type { TierToPass } from "../api/types";
import { testName } from "../parts/names";

export interface CourseTest {
  /** Without its case; what takeaways name it by. */
  id: string;
  name: string;
  cases: number;
  kind: string;
  tier: string;
  title: string;
  why: string;
}

export function courseTests(tiers: readonly TierToPass[]): CourseTest[] {
  const tests = new Map<string, CourseTest>();
  for (const tier of tiers) {
    for (const { id: whole, title, kind, why } of tier.checks) {
      const id = whole.replace(/\[.*$/, "");
      const known = tests.get(id);
      if (known) known.cases += 1;
      else tests.set(id, { id, name: testName(id), cases: 1, kind, tier: tier.id, title, why });
    }
  }
  return [...tests.values()];
}
