/** Numbers of a chart's table as short words that stand under each other. */
import type { Json, Row } from "./json";

export interface Column {
  name: string;
  numeric: boolean;
  /** One for each row. */
  cells: string[];
}

const DIGITS = 6; // that matter to a reader
const LARGEST_FIXED = 1e6;
const SMALLEST_FIXED = 1e-4;
const NOT_FINITE: readonly (Json | undefined)[] = ["NaN", "Infinity", "-Infinity"];

/** The columns of a table in the order in which they first occur. */
export function columnsOf(rows: readonly Row[]): Column[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return [...names].map((name) => columnOf(name, rows));
}

function columnOf(name: string, rows: readonly Row[]): Column {
  const values = rows.map((row) => row[name]);
  const given = values.filter((value) => value !== null && value !== undefined);
  const numbers = given.filter((value) => typeof value === "number");
  const numeric =
    given.length > 0 &&
    given.every((value) => typeof value === "number" || NOT_FINITE.includes(value));
  const decimals = numeric ? decimalsOf(numbers) : null;
  return { name, numeric, cells: values.map((value) => cellOf(value, decimals)) };
}

/** Decimals that all numbers of a column get, so that their points align; null: each its own. */
function decimalsOf(numbers: readonly number[]): number | null {
  if (!numbers.every(isFixed)) return null;
  return Math.max(0, ...numbers.map((number) => decimalsNeeded(number)));
}

function isFixed(number: number): boolean {
  const size = Math.abs(number);
  return size === 0 || (size < LARGEST_FIXED && size >= SMALLEST_FIXED);
}

function decimalsNeeded(number: number): number {
  const short = String(Number(number.toPrecision(DIGITS)));
  return Math.min(short.split(".")[1]?.length ?? 0, DIGITS);
}

function cellOf(value: Json | undefined, decimals: number | null): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number")
    return minus(decimals === null ? short(value) : value.toFixed(decimals));
  if (typeof value !== "string") return JSON.stringify(value);
  return NOT_FINITE.includes(value) ? minus(value) : value;
}

const short = (number: number): string =>
  isFixed(number) || (Number.isInteger(number) && Math.abs(number) < Number.MAX_SAFE_INTEGER)
    ? String(Number(number.toPrecision(DIGITS)))
    : number.toExponential(DIGITS - 3).replace(/\.?0*e/, "e");

/** A hyphen is shorter than the digits it stands before. */
const minus = (text: string): string => text.replace(/^-(?!0\.?0*$)/, "−").replace(/^-/, "");
