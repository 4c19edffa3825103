/** Plain JSON, which specifications and their rows are. */

export type Json = null | boolean | number | string | Json[] | JsonRecord;
export interface JsonRecord {
  [key: string]: Json;
}
/** A Vega-Lite specification. */
export type Spec = JsonRecord;
export type Row = JsonRecord;

export function isRecord(value: Json | undefined): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether these are rows of a table; an empty list is. */
export function areRows(value: Json | undefined): value is Row[] {
  return Array.isArray(value) && value.every(isRecord);
}

/** Whether two values are equal, whatever order their keys have. */
export function same(one: Json | undefined, other: Json | undefined): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => same(item, other[at]));
  }
  if (isRecord(one) && isRecord(other)) {
    return sameKeys(one, other) && Object.keys(one).every((key) => same(one[key], other[key]));
  }
  return one === other;
}

export function sameKeys(one: JsonRecord, other: JsonRecord): boolean {
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key))
  );
}
