/** What the list is narrowed to. It lives in the address, so that it can be shared and gone back. */
import { WORK_STATES, type Row, type WorkState } from "./rows";

export interface Filters {
  text: string;
  track: string | null;
  tag: string | null;
  state: WorkState | null;
}

/** What one can choose from, beside the text. */
export type Facet = "track" | "tag" | "state";

export interface Choice {
  value: string;
  /** How many rows this choice would show, with all other filters as they are. */
  count: number;
}

/** The filters of an address' query; what it says wrongly is left out. */
export function filtersOf(query: string): Filters {
  const parameters = new URLSearchParams(query);
  const state = parameters.get("state");
  return {
    text: parameters.get("q") ?? "",
    track: parameters.get("track") ?? null,
    tag: parameters.get("tag") ?? null,
    state: WORK_STATES.find((known) => known === state) ?? null,
  };
}

/** The address of these filters. */
export function addressOf(path: string, filters: Filters): string {
  const parameters = new URLSearchParams();
  if (filters.text !== "") parameters.set("q", filters.text);
  for (const facet of ["track", "tag", "state"] as const) {
    const value = filters[facet];
    if (value !== null) parameters.set(facet, value);
  }
  return parameters.size > 0 ? `${path}?${parameters.toString()}` : path;
}

export const filtered = (filters: Filters): boolean =>
  filters.text.trim() !== "" ||
  filters.track !== null ||
  filters.tag !== null ||
  filters.state !== null;

/** The rows that these filters leave. */
export function matching(rows: readonly Row[], filters: Filters): Row[] {
  const words = plain(filters.text).split(/\s+/).filter(Boolean);
  return rows.filter(
    (row) =>
      chosen(row, "track", filters.track) &&
      chosen(row, "tag", filters.tag) &&
      chosen(row, "state", filters.state) &&
      holds(row, words),
  );
}

/** What can be chosen, in the order of the rows; tags by name. The chosen one is always there. */
export function choicesOf(rows: readonly Row[], filters: Filters, facet: Facet): Choice[] {
  const others = matching(rows, { ...filters, [facet]: null });
  const values = new Set<string>(facet === "state" ? WORK_STATES : rows.flatMap(VALUES[facet]));
  if (filters[facet] !== null) values.add(filters[facet]);
  const choices = [...values].map((value) => ({
    value,
    count: others.filter((row) => chosen(row, facet, value)).length,
  }));
  return facet === "tag" ? choices.sort((a, b) => (a.value < b.value ? -1 : 1)) : choices;
}

const VALUES: Record<Facet, (row: Row) => string[]> = {
  track: (row) => [row.problem.track],
  tag: (row) => row.problem.tags,
  state: (row) => [row.state],
};

function chosen(row: Row, facet: Facet, value: string | null): boolean {
  return value === null || VALUES[facet](row).includes(value);
}

function holds(row: Row, words: readonly string[]): boolean {
  const { problem, trackTitle } = row;
  const text = plain(
    [problem.label, problem.title, problem.summary, problem.slug, trackTitle, ...problem.tags].join(
      " ",
    ),
  );
  return words.every((word) => text.includes(word));
}

/** Small letters without accents: what people type. */
function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
