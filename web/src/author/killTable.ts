/** The kill matrix as it is drawn: named mutants by checks, and what is wrong with a row. */
import type { KillMatrix } from "../api/types";
import { testName } from "../parts/names";

/** "here" is in the tier that must reject the mutant, "elsewhere" in any other. */
export type Mark = "here" | "elsewhere" | "missed" | "none";

export interface KillColumn {
  id: string;
  name: string;
  tier: string;
}

export interface KillLine {
  mutant: string;
  title: string;
  tier: string;
  isPitfall: boolean;
  marks: Mark[];
  /** A sentence where the mutant is not rejected as it should be; null where it is. */
  wrong: string | null;
}

export interface KillTable {
  columns: KillColumn[];
  /** Neighbouring columns of one tier. */
  groups: { tier: string; columns: number }[];
  lines: KillLine[];
}

/** `tierOf` says in which tier a check runs; "" where it is not known. */
export function killTable(matrix: KillMatrix, tierOf: (check: string) => string): KillTable {
  const columns = matrix.checks.map((id) => ({ id, name: labelOf(id), tier: tierOf(id) }));
  const order = [...new Set(columns.map(({ tier }) => tier))];
  const lines = matrix.rows.map((row): KillLine => {
    const failed = new Set(row.failed);
    const marks = columns.map(({ id, tier }): Mark => {
      if (failed.has(id)) return tier === row.tier ? "here" : "elsewhere";
      return tier === row.tier ? "missed" : "none";
    });
    const { mutant, title, tier, pitfall } = row;
    const wrong = wrongWith(tier, row.failed.map(tierOf), order);
    return { mutant, title, tier, isPitfall: pitfall, marks, wrong };
  });
  return { columns, groups: groupsOf(columns), lines };
}

/** "heads[3]" of "test_t1_oracle::test_heads[3]". */
function labelOf(id: string): string {
  const at = id.indexOf("[");
  return testName(id).replace(/^test_/, "") + (at < 0 ? "" : id.slice(at));
}

function groupsOf(columns: readonly KillColumn[]): KillTable["groups"] {
  const groups: KillTable["groups"] = [];
  for (const { tier } of columns) {
    const last = groups.at(-1);
    if (last?.tier === tier) last.columns += 1;
    else groups.push({ tier, columns: 1 });
  }
  return groups;
}

/** The first tier that a mutant fails in is the one that rejects it. */
function wrongWith(tier: string, failed: readonly string[], order: readonly string[]) {
  const first = order.find((each) => failed.includes(each));
  if (first === undefined) return `No check notices it; ${tier} should.`;
  if (first === tier) return null;
  return `${first} rejects it, not ${tier}.`;
}
