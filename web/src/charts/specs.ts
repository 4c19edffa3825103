/** The specification that is drawn: with its data in it, and without anything to fetch. */
import type { Chart } from "../api/types";
import { isRecord, type Json, type JsonRecord, type Row, type Spec } from "./json";

/** A chart that cannot be drawn; the sentence says why. */
export class Undrawable extends Error {}

export const rowsOf = (chart: Chart): Row[] => chart.table as Row[];

/** The chart's specification with its rows and named data sets inline; throws `Undrawable`. */
export function selfContained(chart: Chart): Spec {
  const spec = { data: { values: rowsOf(chart) }, ...(chart.spec as Spec) };
  if (hasAddress(spec)) throw new Undrawable("The chart asks for data from an address.");
  const { datasets, ...rest } = spec as Spec;
  return isRecord(datasets) ? (inlined(rest, datasets) as Spec) : rest;
}

/** For a narrow place: as many ticks below a plot as it has room for, whatever was asked for. */
export function narrowed(spec: Spec): Spec {
  return withoutTickCount(spec) as Spec;
}

function withoutTickCount(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutTickCount);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      // The rows that are drawn are many, and none of them is an axis.
      if (key === "data" || key === "datasets") return [key, item];
      if (key !== "x" || !isRecord(item) || !isRecord(item.axis)) {
        return [key, withoutTickCount(item)];
      }
      const asked = Object.entries(item.axis).filter(([name]) => name !== "tickCount");
      return [key, { ...item, axis: Object.fromEntries(asked) }];
    }),
  );
}

function hasAddress(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasAddress);
  if (!isRecord(value)) return false;
  return "url" in value || Object.values(value).some(hasAddress);
}

function inlined(value: Json, datasets: JsonRecord): Json {
  if (Array.isArray(value)) return value.map((item) => inlined(item, datasets));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const rows = key === "data" && isRecord(item) ? namedRows(item, datasets) : undefined;
      return [key, rows ? { values: rows } : inlined(item, datasets)];
    }),
  );
}

function namedRows(data: JsonRecord, datasets: JsonRecord): Json | undefined {
  const { name } = data;
  return typeof name === "string" && Object.hasOwn(datasets, name) ? datasets[name] : undefined;
}
