/** The grade of a student's own tests, put in rows and columns for the page. */
import type { Mutation } from "../api/types";

/** A wrong solution. */
export interface Column {
  id: string;
  /** A few letters, for the head of a narrow column. */
  label: string;
  mustKill: boolean;
  survived: boolean;
  /** How many tests noticed it. */
  killers: number;
  /** Names the mistake; null while nobody has noticed it. */
  title: string | null;
  /** What it does, as somebody would see it. */
  symptom: string | null;
}

/** One of the student's tests. */
export interface Row {
  /** As the judge says it; `name` is the shortest that tells it from the others. */
  id: string;
  name: string;
  isFlaky: boolean;
  /** Whether it noticed each mutant, by column. */
  kills: boolean[];
  killed: number;
}

export interface Matrix {
  columns: Column[];
  rows: Row[];
}

export function matrixOf(mutation: Mutation): Matrix {
  const { mutants, matrix, tests, flaky } = mutation;
  const labels = shortLabels(mutants);
  const names = shortNames(tests);
  return {
    columns: mutants.map((id, at) => ({
      id,
      label: labels[at] ?? id,
      mustKill: mutation.must_kill.includes(id),
      survived: mutation.survivors.includes(id),
      killers: matrix.filter((row) => row[at]).length,
      title: mutation.titles[id] ?? null,
      symptom: mutation.symptoms[id] ?? null,
    })),
    rows: tests.map((id, at) => {
      const kills = mutants.map((_, column) => matrix[at]?.[column] ?? false);
      return {
        id,
        name: names[at] ?? id,
        isFlaky: flaky.includes(id),
        kills,
        killed: kills.filter(Boolean).length,
      };
    }),
  };
}

/**
 * A label for each mutant: what its id begins with, "s01" of "s01-merge", where authors number
 * them; else its place. The rest of an id names the mistake, which is not told of survivors.
 */
export function shortLabels(ids: readonly string[]): string[] {
  const prefixes = ids.map((id) => /^[a-z]?\d{1,3}(?=-|$)/.exec(id)?.[0] ?? "");
  const areLabels = !prefixes.includes("") && new Set(prefixes).size === ids.length;
  return areLabels ? prefixes : ids.map((_, at) => `m${at + 1}`);
}

/** "test_sum" of "tests/test_own.py::test_sum"; with its file where there are several. */
export function shortNames(tests: readonly string[]): string[] {
  const parts = tests.map((id) => {
    const at = id.indexOf("::");
    return at < 0 ? { file: "", test: id } : { file: id.slice(0, at), test: id.slice(at + 2) };
  });
  const several = new Set(parts.map(({ file }) => file)).size > 1;
  return parts.map(({ file, test }) => (several && file !== "" ? `${stem(file)}::${test}` : test));
}

const stem = (file: string): string => file.replace(/^.*\//, "").replace(/\.py$/, "");

/** One thing that is asked of the tests, and whether they do it. */
export interface Demand {
  isMet: boolean;
  words: string;
}

/** What beside passing on right solutions is asked for. */
export function demands(mutation: Mutation): Demand[] {
  const { score, threshold, mutants, survivors, must_kill: mustKill, flaky } = mutation;
  const killed = mutants.length - survivors.length;
  const missed = mustKill.filter((id) => survivors.includes(id));
  const labels = shortLabels(mutants);
  const named = missed.map((id) => labels[mutants.indexOf(id)] ?? id).join(", ");
  const all: Demand[] = [
    {
      isMet: score >= threshold,
      words: `${killed} of ${mutants.length} mutants noticed`,
    },
  ];
  if (mustKill.length > 0) {
    all.push({
      isMet: missed.length === 0,
      words:
        missed.length === 0
          ? `Every pitfall noticed, ${mustKill.length} of ${mustKill.length}`
          : `${missed.length} of ${mustKill.length} pitfalls not noticed: ${named}`,
    });
  }
  if (flaky.length > 0) {
    all.push({
      isMet: false,
      words: `Not always the same result on the same code: ${shortNames(flaky).join(", ")}`,
    });
  }
  return all;
}
