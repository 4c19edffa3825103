/**
 * Draws one chart. The one module that imports Vega, hence a chunk of its own: `import()` it.
 *
 * Expressions are interpreted, never compiled, because the page allows no `eval`; nothing is
 * loaded, whatever a specification asks for.
 */
import {
  type Loader,
  type LoggerInterface,
  mergeConfig,
  parse,
  type Spec as Vega,
  View,
} from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile, type Config, type TopLevelSpec } from "vega-lite";

import { isRecord, type Json, type Spec } from "./json";
import {
  HEIGHT_STRETCH,
  nextStretch,
  type Fit,
  type Size,
  type Stretch,
  widthStretch,
} from "./sizing";
import { Undrawable } from "./specs";

export interface Drawing {
  svg: SVGSVGElement;
  size: Size;
  /** Give back what it holds. */
  end: () => void;
}

/** Draw `spec` as close to `room` as its plots can be stretched; rejects with `Undrawable`. */
export async function draw(spec: Spec, config: Config, room: Size): Promise<Drawing> {
  const log = new Log();
  const vega = compiled(spec, config, log);
  const stage = document.createElement("div");
  const view = new View(parse(vega, undefined, { ast: true }), {
    expr: expressionInterpreter,
    loader: REFUSING,
    logger: log,
    renderer: "svg",
  }).initialize(stage);
  try {
    await fit(view, vega, stage, log, room);
    const svg = stage.querySelector("svg");
    if (!svg) throw new Undrawable("The chart has no picture.");
    return { svg, size: sizeOf(stage), end: () => void view.finalize() };
  } catch (error) {
    view.finalize();
    throw error;
  }
}

function compiled(spec: Spec, config: Config, logger: Log): Vega {
  const own = isRecord(spec.config) ? spec.config : {};
  // The page's theme goes last: an author's colours for words were chosen for another page.
  const merged = mergeConfig(own, config as object) as Config;
  const bare = { ...spec, background: null, config: {} };
  try {
    const { spec: vega } = compile(bare as unknown as TopLevelSpec, { config: merged, logger });
    return withRoomForLabels(vega as unknown as Json) as unknown as Vega;
  } catch (error) {
    throw new Undrawable(words(error));
  }
}

/** Vega-Lite reckons with 40 pixels for the label of a tick; a number with a sign needs more. */
function withRoomForLabels(value: Json): Json {
  if (Array.isArray(value)) return value.map(withRoomForLabels);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === "data") return [key, item];
      return key === "tickCount" && isRecord(item) && typeof item.signal === "string"
        ? [key, { signal: item.signal.replace(/width\/40\)$/, "width/60)") }]
        : [key, withRoomForLabels(item)];
    }),
  );
}

// --- nothing is loaded ---------------------------------------------------------------------------

const refuse = (): Promise<never> => Promise.reject(new Error("Charts load nothing."));
const REFUSING: Loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

/** Vega says what went wrong in its log only, so the log keeps it. */
class Log implements LoggerInterface {
  failure: unknown = null;

  level(): number;
  level(_level: number): this;
  level(level?: number): number | this {
    return level === undefined ? 0 : this;
  }
  error(...words: unknown[]): this {
    this.failure ??= words[0];
    return this;
  }
  warn(): this {
    return this;
  }
  info(): this {
    return this;
  }
  debug(): this {
    return this;
  }
}

// --- fitting -------------------------------------------------------------------------------------

type Side = "width" | "height";

/** A length that a chart can be stretched by: a plot's, or a step's. */
interface Length {
  signal: string;
  value: number;
}

/** What can be stretched along one side, and what then measures how long each plot became. */
interface Lengths {
  open: Length[];
  plots: string[];
}

/** One side of a drawing on its way to the length it is to have. */
class Stretching {
  private readonly bounds: Stretch;
  private before: Fit | null = null;
  private stretch = 1;

  constructor(
    private readonly lengths: Lengths,
    private readonly room: number,
    bounds: Stretch,
  ) {
    this.bounds = lengths.open.length > 0 ? bounds : { least: 1, most: 1 };
  }

  /** Stretch further, now that the drawing measures `length`; false when it is as it should be. */
  improve(view: View, length: number): boolean {
    const plots = this.lengths.plots.map((name) => Number(view.signal(name)) || 0);
    const now = { stretch: this.stretch, length, plot: Math.max(...plots, 0) };
    const next = nextStretch(this.before, now, this.room, this.bounds);
    if (Math.abs(length - this.room) < 1 || next === now.stretch) return false;
    for (const { signal, value } of this.lengths.open) view.signal(signal, value * next);
    this.before = now;
    this.stretch = next;
    return true;
  }
}

const ROUNDS = 4;

async function fit(view: View, vega: Vega, stage: Element, log: Log, room: Size): Promise<void> {
  const widths = lengthsOf(vega, "width");
  const stretch = widthStretch(widths.open.map(({ value }) => value));
  const width = new Stretching(widths, room.width, stretch);
  const height = new Stretching(lengthsOf(vega, "height"), room.height, HEIGHT_STRETCH);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await view.resize().runAsync();
    if (log.failure !== null) throw new Undrawable(words(log.failure));
    const size = sizeOf(stage);
    const wider = width.improve(view, size.width);
    const higher = height.improve(view, size.height);
    if (!wider && !higher) return;
  }
  await view.resize().runAsync();
}

/** `childWidth` is that of all parts of a concatenation, where they have the same. */
const SIGNALS: Record<Side, RegExp> = {
  width: /(^|_)(width|childWidth|x_step)$/,
  height: /(^|_)(height|childHeight|y_step)$/,
};

/** The lengths that Vega-Lite left open to change: signals that end like this side, or its steps. */
function lengthsOf(vega: Vega, side: Side): Lengths {
  const own = vega[side];
  const names = SIGNALS[side];
  const signals = (vega.signals ?? []).filter(({ name }) => names.test(name));
  const open = signals.flatMap((signal) =>
    "value" in signal && typeof signal.value === "number"
      ? [{ signal: signal.name, value: signal.value }]
      : [],
  );
  const plots = signals.map(({ name }) => name).filter((name) => !name.endsWith("_step"));
  return typeof own === "number"
    ? { open: [{ signal: side, value: own }, ...open], plots: [side, ...plots] }
    : { open, plots };
}

/** What the whole drawing measures. */
function sizeOf(stage: Element): Size {
  const [, , width = 0, height = 0] =
    stage.querySelector("svg")?.getAttribute("viewBox")?.split(" ").map(Number) ?? [];
  return { width, height };
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
