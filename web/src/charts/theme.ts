/**
 * The page's own look for charts: its fonts, and its colours by the names of their tokens.
 *
 * A picture that names them follows the page: into another theme, and onto paper.
 */
import type { Config } from "vega-lite";

const INK = "var(--ink)";
const QUIET = "var(--quiet)";
const LINE = "var(--line)";
/** Series that no author has coloured. */
const SERIES = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5"];

/** The page's font by its own names: letters are measured where no style reaches. */
export const pageFont = (): string =>
  getComputedStyle(document.documentElement).getPropertyValue("--font").trim();

/** The look in Vega-Lite's words. Pictures that the judge draws have theirs in judge/charts.py. */
export function vegaConfig(font: string): Config {
  const words = { labelColor: INK, titleColor: INK, labelFontSize: 12, titleFontSize: 12 };
  return {
    background: "transparent",
    padding: 3, // letters reach a little beyond what they measure
    font,
    view: { stroke: null, continuousHeight: 200, continuousWidth: 320 },
    title: { color: INK, fontSize: 13, fontWeight: 600, anchor: "start" },
    axis: {
      ...words,
      labelColor: QUIET,
      titleColor: QUIET,
      titleFontWeight: "normal",
      labelFontSize: 11,
      gridColor: LINE,
      domainColor: QUIET,
      tickColor: QUIET,
    },
    axisX: { labelFlush: false },
    header: { ...words, titleFontWeight: "normal" },
    legend: { ...words, titleFontWeight: 600, symbolSize: 160, orient: "top" },
    text: { color: INK, fontSize: 11 },
    rule: { color: QUIET },
    range: { category: SERIES.map((token) => `var(${token})`) },
  };
}
