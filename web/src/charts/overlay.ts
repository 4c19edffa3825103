/**
 * The student's chart and the reference's in one picture.
 *
 * Both come from the same code of a problem's author, so they differ only where that code names
 * whose numbers it draws: "submission" or "reference" as a column or as a series. Laying one over
 * the other walks both specifications side by side and keeps what is equal; where they differ,
 *
 * - rows are joined, or put one after the other,
 * - lists of names get both names, and scales the looks of both beside them,
 * - a layer that draws one of them is there twice.
 *
 * What differs in any other way cannot be joined: then the two are drawn beside each other.
 */
import { areRows, isRecord, type Json, type JsonRecord, type Row, same, sameKeys } from "./json";
import type { Spec } from "./json";

const YOURS = "submission";
const REFERENCE = "reference";
const WORDS = new Set(["description", "title", "subtitle"]);
/** What only the outermost specification may say, or says for the page and not for the chart. */
const OUTERMOST = new Set(["$schema", "autosize", "background", "config", "padding", "usermeta"]);

/** One specification with the series of both, or null when they do not follow the convention. */
export function overlay(yours: Spec, reference: Spec): Spec | null {
  const joined = join(yours, reference, "");
  return isRecord(joined) ? joined : null;
}

/** Both as parts of one picture, with the same scales along x and y. */
export function beside(yours: Spec, reference: Spec, wide: boolean): Spec {
  const parts = [
    { ...inner(yours), title: "Your submission" },
    { ...inner(reference), title: "Reference" },
  ];
  const resolve = { scale: { x: "shared", y: "shared" } };
  return wide ? { hconcat: parts, resolve } : { vconcat: parts, resolve };
}

/** The rows of both, or null when they share no structure. */
export function joinRows(yours: readonly Row[], reference: readonly Row[]): Row[] | null {
  if (yours.every((row) => YOURS in row) && reference.every((row) => REFERENCE in row)) {
    return joinColumns(yours, reference);
  }
  if (yours.some(isOf(YOURS)) && reference.some(isOf(REFERENCE))) {
    return [...yours, ...reference.filter((row) => !yours.some((other) => same(row, other)))];
  }
  return null;
}

function inner(spec: Spec): Spec {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !OUTERMOST.has(key)));
}

// --- rows ----------------------------------------------------------------------------------------

/** Each row once, with the numbers of both. */
function joinColumns(yours: readonly Row[], reference: readonly Row[]): Row[] | null {
  if (yours.length !== reference.length) return null;
  const partners = new Map(reference.map((row) => [identity(row, REFERENCE), row]));
  const rows: Row[] = [];
  for (const row of yours) {
    const partner = partners.get(identity(row, YOURS));
    if (!partner) return null;
    rows.push(withColumn(row, partner[REFERENCE] ?? null));
  }
  return rows;
}

/** What a row is about: everything in it but the numbers of `source`. */
function identity(row: Row, source: string): string {
  const others = Object.entries(row).filter(([column]) => column !== source);
  return JSON.stringify(others.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The reference's number goes behind the student's, where a reader looks for it. */
function withColumn(row: Row, number: Json): Row {
  const cells = Object.entries(row).flatMap(([column, cell]): [string, Json][] =>
    column === YOURS
      ? [
          [column, cell],
          [REFERENCE, number],
        ]
      : [[column, cell]],
  );
  return Object.fromEntries(cells);
}

const isOf = (source: string) => (row: Row) => Object.values(row).includes(source);

// --- specifications ------------------------------------------------------------------------------

/** Both as one, or undefined when they cannot be; `key` is where they stand. */
function join(yours: Json, reference: Json, key: string): Json | undefined {
  if (same(yours, reference)) return yours;
  if (typeof yours === "string" && typeof reference === "string") {
    return WORDS.has(key) ? joinWords(yours, reference) : undefined;
  }
  if (Array.isArray(yours) && Array.isArray(reference)) return joinLists(yours, reference, key);
  if (!isRecord(yours) || !isRecord(reference) || !sameKeys(yours, reference)) return undefined;
  return isStyled(yours) && isStyled(reference)
    ? joinScales(yours, reference)
    : joinRecords(yours, reference);
}

function joinRecords(yours: JsonRecord, reference: JsonRecord): JsonRecord | undefined {
  const joined: [string, Json][] = [];
  for (const [key, value] of Object.entries(yours)) {
    const both = join(value, reference[key] ?? null, key);
    if (both === undefined) return undefined;
    joined.push([key, both]);
  }
  // Not key by key: a key may have any name, also that of a prototype.
  return Object.fromEntries(joined);
}

function joinLists(yours: Json[], reference: Json[], key: string): Json[] | undefined {
  if (key === "values" && areRows(yours) && areRows(reference)) {
    return joinRows(yours, reference) ?? undefined;
  }
  if (yours.length !== reference.length) return undefined;
  if (key === "domain" && areNumbers(yours) && areNumbers(reference)) {
    return [Math.min(...yours, ...reference), Math.max(...yours, ...reference)];
  }
  if (areNames(yours) && areNames(reference)) return joinNames(yours, reference);
  const joined: Json[] = [];
  for (const [at, item] of yours.entries()) {
    const other = reference[at] ?? null;
    const both = join(item, other, "");
    if (both !== undefined) joined.push(both);
    else if (key === "layer") joined.push(item, other);
    else return undefined;
  }
  return joined;
}

function joinNames(yours: string[], reference: string[]): string[] {
  return [...new Set(yours.flatMap((name, at) => [name, reference[at] ?? name]))];
}

/** A scale that says how each name looks. */
interface Styled extends JsonRecord {
  domain: string[];
  range: Json[];
}

function isStyled(value: JsonRecord): value is Styled {
  const { domain, range } = value;
  return (
    Array.isArray(domain) &&
    areNames(domain) &&
    Array.isArray(range) &&
    range.length === domain.length
  );
}

function joinScales(yours: Styled, reference: Styled): JsonRecord | undefined {
  const { domain, range, ...rest } = yours;
  const { domain: otherDomain, range: otherRange, ...otherRest } = reference;
  const looks = new Map<string, Json>();
  for (const [at, name] of domain.entries()) {
    looks.set(name, range[at] ?? null);
    const other = otherDomain[at];
    if (other !== undefined && !looks.has(other)) looks.set(other, otherRange[at] ?? null);
  }
  const both = joinRecords(rest, otherRest);
  return both && { ...both, domain: [...looks.keys()], range: [...looks.values()] };
}

/** Words that differ in nothing but the name say both names. */
function joinWords(yours: string, reference: string): string | undefined {
  if (yours.replaceAll(YOURS, REFERENCE) !== reference) return undefined;
  return yours.replaceAll(YOURS, `${YOURS}, ${REFERENCE}`);
}

const areNames = (list: Json[]): list is string[] => list.every((item) => typeof item === "string");
const areNumbers = (list: Json[]): list is number[] =>
  list.every((item) => typeof item === "number");
