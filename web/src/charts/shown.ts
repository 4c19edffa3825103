/** What one chart's place shows: whose numbers, drawn how, and as which tables. */
import type { Chart } from "../api/types";
import type { Row, Spec } from "./json";
import { joinRows, beside, overlay } from "./overlay";
import { narrowed, rowsOf, selfContained, Undrawable } from "./specs";

export type Choice = "reference" | "yours" | "both";

/** The charts of one id; at least one of them is there. */
export interface Pair {
  id: string;
  reference: Chart | null;
  yours: Chart | null;
}

export interface NumbersTable {
  caption: string;
  rows: Row[];
}

export interface Shown {
  choice: Choice;
  title: string;
  /** What the picture shows, in words. */
  description: string;
  /** For a wide place and for a narrow one; null when there is nothing that can be drawn. */
  specs: { wide: Spec; narrow: Spec } | null;
  tables: NumbersTable[];
}

export const LABELS: Record<Choice, string> = {
  reference: "Reference preview",
  yours: "Your submission",
  both: "Yours and the reference",
};

/** Charts by id, in the order of the reference's. */
export function pairs(reference: readonly Chart[], submission: readonly Chart[]): Pair[] {
  const ids = new Set([...reference, ...submission].map((chart) => chart.id));
  return [...ids].map((id) => ({
    id,
    reference: reference.find((chart) => chart.id === id) ?? null,
    yours: submission.find((chart) => chart.id === id) ?? null,
  }));
}

/** What is shown where `choice` is wished for; where one side is missing, the other is. */
export function shown(choice: Choice, reference: Chart | null, yours: Chart | null): Shown | null {
  if (reference && yours && choice === "both") return shownTogether(reference, yours);
  const preferred = choice === "reference" ? (reference ?? yours) : (yours ?? reference);
  return preferred && shownAlone(preferred);
}

/** Why charts of both are not over each other, in words; null where they are. */
export function noteOn(choice: Choice, all: readonly Pair[], isOutdated: boolean): string | null {
  if (choice !== "both" || !all.some(areApart)) return null;
  return isOutdated
    ? "Drawn by an earlier version of the exercise: submit again to lay them over each other."
    : "What differs in more than its numbers cannot be laid over each other.";
}

/** Whether both can be drawn, but not in one picture. */
function areApart({ reference, yours }: Pair): boolean {
  if (!reference || !yours) return false;
  const isApart = () => overlay(selfContained(yours), selfContained(reference)) === null;
  return drawable(isApart) ?? false;
}

function shownAlone(chart: Chart): Shown {
  const spec = drawable(() => selfContained(chart));
  const choice = chart.source === "reference" ? "reference" : "yours";
  return {
    choice,
    title: chart.title,
    description: described(chart.title, LABELS[choice], spec),
    specs: spec && { wide: spec, narrow: narrowed(spec) },
    tables: [{ caption: LABELS[choice], rows: rowsOf(chart) }],
  };
}

function shownTogether(reference: Chart, yours: Chart): Shown {
  const specs = drawable(() => together(selfContained(yours), selfContained(reference)));
  return {
    choice: "both",
    title: yours.title,
    description: described(yours.title, LABELS.both, specs?.wide ?? null),
    specs,
    tables: tablesTogether(reference, yours),
  };
}

function together(yours: Spec, reference: Spec): { wide: Spec; narrow: Spec } {
  const joined = overlay(yours, reference);
  if (joined) return { wide: joined, narrow: narrowed(joined) };
  return {
    wide: beside(yours, reference, true),
    narrow: narrowed(beside(yours, reference, false)),
  };
}

function tablesTogether(reference: Chart, yours: Chart): NumbersTable[] {
  const rows = joinRows(rowsOf(yours), rowsOf(reference));
  if (rows) return [{ caption: LABELS.both, rows }];
  return [
    { caption: LABELS.yours, rows: rowsOf(yours) },
    { caption: LABELS.reference, rows: rowsOf(reference) },
  ];
}

function described(title: string, label: string, spec: Spec | null): string {
  const words = typeof spec?.description === "string" ? ` ${spec.description}` : "";
  return `${title}. ${label}.${words}`;
}

function drawable<Made>(make: () => Made): Made | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof Undrawable) return null;
    throw error;
  }
}
