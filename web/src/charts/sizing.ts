/**
 * How large a chart is.
 *
 * Its height is reserved before anything that could draw it has arrived, so that nothing moves
 * when it is there. An estimate from the specification is enough: the drawing is then fitted to
 * the reserved height and to the width there is, by stretching its plots. Letters keep their size.
 */
import { areRows, isRecord, type Json, type Row, type Spec } from "./json";

export interface Size {
  width: number;
  height: number;
}

/** How far plots may be stretched, as a factor. */
export interface Stretch {
  least: number;
  most: number;
}

const PLOT = 200; // where a specification says nothing; also in the theme
const AXIS = 44;
const HEADER = 24;
const LEGEND = 36;
const GAP = 20;
const SMALLEST = 120;
const LARGEST = 1200;
const NARROWEST_PLOT = 64;

/** The height to reserve for a chart, in pixels. */
export function reservedHeight(spec: Spec): number {
  const title = spec.title === undefined ? 0 : HEADER;
  const legend = hasLegend(spec) ? LEGEND : 0;
  const height = contentHeight(spec, []) + title + legend;
  return Math.round(Math.min(Math.max(height, SMALLEST), LARGEST));
}

function contentHeight(spec: Spec, inherited: readonly Row[]): number {
  const rows = ownRows(spec) ?? inherited;
  const heights = (parts: Json | undefined): number[] =>
    Array.isArray(parts) ? parts.filter(isRecord).map((part) => contentHeight(part, rows)) : [];
  if (spec.hconcat) return Math.max(...heights(spec.hconcat), 0);
  if (spec.vconcat) return stacked(heights(spec.vconcat), 1);
  if (spec.concat) return stacked(heights(spec.concat), columns(spec));
  if (isRecord(spec.spec)) {
    const lines = isRecord(spec.facet)
      ? facetLines(spec.facet, columns(spec), rows)
      : repeatLines(spec.repeat, columns(spec));
    return lines * (contentHeight(spec.spec, rows) - AXIS + GAP) - GAP + AXIS + HEADER;
  }
  const encoding = isRecord(spec.encoding) ? spec.encoding : {};
  const lines = facetLines(encoding.facet ?? encoding, columns(encoding.facet), rows);
  return lines * (plotHeight(spec, encoding, rows) + GAP) - GAP + AXIS;
}

function ownRows(spec: Spec): readonly Row[] | null {
  return isRecord(spec.data) && areRows(spec.data.values) ? spec.data.values : null;
}

function columns(spec: Json | undefined): number {
  return isRecord(spec) && typeof spec.columns === "number" ? spec.columns : Infinity;
}

/** Heights of parts that fill lines of so many columns. */
function stacked(heights: number[], inLine: number): number {
  let total = 0;
  for (let at = 0; at < heights.length; at += inLine) {
    total += Math.max(...heights.slice(at, at + inLine)) + GAP;
  }
  return Math.max(total - GAP, 0);
}

function facetLines(facet: Json, inLine: number, rows: readonly Row[]): number {
  if (!isRecord(facet)) return 1;
  if (isRecord(facet.row)) return distinct(facet.row.field, rows);
  return Math.ceil(distinct(facet.field, rows) / inLine) || 1;
}

function repeatLines(repeat: Json | undefined, inLine: number): number {
  if (Array.isArray(repeat)) return Math.ceil(repeat.length / inLine) || 1;
  return isRecord(repeat) && Array.isArray(repeat.row) ? repeat.row.length : 1;
}

function plotHeight(spec: Spec, encoding: Spec, rows: readonly Row[]): number {
  const { height } = spec;
  if (typeof height === "number") return height;
  if (isRecord(height) && typeof height.step === "number") {
    return height.step * distinct(isRecord(encoding.y) ? encoding.y.field : undefined, rows);
  }
  return PLOT;
}

/** How many different values a column has; 1 when nobody knows. */
function distinct(field: Json | undefined, rows: readonly Row[]): number {
  if (typeof field !== "string") return 1;
  return new Set(rows.map((row) => row[field])).size || 1;
}

const LEGEND_CHANNELS = ["color", "fill", "stroke", "shape", "size", "opacity", "strokeDash"];

function hasLegend(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasLegend);
  if (!isRecord(value)) return false;
  const { encoding } = value;
  return (
    (isRecord(encoding) && LEGEND_CHANNELS.some((channel) => isLegend(encoding[channel]))) ||
    ["layer", "spec", "concat", "hconcat", "vconcat"].some((part) => hasLegend(value[part] ?? null))
  );
}

function isLegend(channel: Json | undefined): boolean {
  return isRecord(channel) && "field" in channel && channel.legend !== null;
}

// --- fitting -------------------------------------------------------------------------------------

/** How far plots of these widths may be stretched: none becomes too narrow to read. */
export function widthStretch(widths: readonly number[]): Stretch {
  const narrowest = Math.min(...widths);
  return { least: Math.min(NARROWEST_PLOT / narrowest, 1), most: 2 };
}

export const HEIGHT_STRETCH: Stretch = { least: 0.5, most: 2 };

export interface Fit {
  stretch: number;
  /** What the whole drawing then measures, in pixels. */
  length: number;
  /** What its longest plot then measures, in pixels. */
  plot: number;
}

/** Drawings measure whole pixels. */
const ROUNDING = 1;

/**
 * The stretch to try next, so that the drawing measures `length`.
 *
 * Plots grow with it, while axes, headers and legends stay: a straight line through two tries.
 * A legend may be longer than the plots, and then it alone says how long the drawing is: where a
 * try made the longest plot shorter and the drawing not as much, even shorter plots do not help.
 */
export function nextStretch(before: Fit | null, now: Fit, length: number, bounds: Stretch): number {
  if (before && isHeld(before, now) && length < now.length) return now.stretch;
  const slope = before
    ? (now.length - before.length) / (now.stretch - before.stretch)
    : now.length / now.stretch;
  const stretch = slope > 0 ? now.stretch + (length - now.length) / slope : now.stretch;
  return Math.min(Math.max(stretch, bounds.least), bounds.most);
}

/** Whether something that does not stretch set the length of a try. */
function isHeld(before: Fit, now: Fit): boolean {
  const change = Math.abs(now.length - before.length);
  return change < Math.abs(now.plot - before.plot) - ROUNDING;
}
