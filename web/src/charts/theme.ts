/** The page's own look for charts: its fonts and colours, read from the tokens of its style. */
import type { Config } from "vega-lite";

export interface Theme {
  ink: string;
  quiet: string;
  line: string;
  font: string;
  /** Series that no author has coloured. */
  series: string[];
}

const SERIES = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5"];

/** The theme as it is now, where `element` stands. */
export function readTheme(element: HTMLElement): Theme {
  // A token is a pair of colours; only as the colour of something does it become one of them.
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const colour = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const theme = {
    ink: colour("--ink"),
    quiet: colour("--quiet"),
    line: colour("--line"),
    font: getComputedStyle(element).getPropertyValue("--font").trim(),
    series: SERIES.map(colour),
  };
  probe.remove();
  return theme;
}

/** Call `changed` whenever the page's theme does; returns what ends it. */
export function onThemeChange(changed: () => void): () => void {
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    system.removeEventListener("change", changed);
  };
}

/** The theme in Vega-Lite's words. Pictures that the judge draws have theirs in judge/charts.py. */
export function vegaConfig({ ink, quiet, line, font, series }: Theme): Config {
  const words = { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12 };
  return {
    background: "transparent",
    padding: 3, // letters reach a little beyond what they measure
    font,
    view: { stroke: null, continuousHeight: 200, continuousWidth: 320 },
    title: { color: ink, fontSize: 13, fontWeight: 600, anchor: "start" },
    axis: {
      ...words,
      labelColor: quiet,
      titleColor: quiet,
      titleFontWeight: "normal",
      labelFontSize: 11,
      gridColor: line,
      domainColor: quiet,
      tickColor: quiet,
    },
    axisX: { labelFlush: false },
    header: { ...words, titleFontWeight: "normal" },
    legend: { ...words, titleFontWeight: 600, symbolSize: 160, orient: "top" },
    text: { color: ink, fontSize: 11 },
    rule: { color: quiet },
    range: { category: series },
  };
}
