import { useEffect, useRef, useState } from "preact/hooks";

import type { Drawing } from "./drawing";
import type { Spec } from "./json";
import { useNear, useWidth } from "./place";
import { reservedHeight } from "./sizing";
import { pageFont, vegaConfig } from "./theme";

const WIDE = 640;

/** "unloaded": the part that draws did not arrive. "undrawable": it cannot draw this. */
export type Failure = "unloaded" | "undrawable";

interface PictureProps {
  specs: { wide: Spec; narrow: Spec };
  label: string;
  onFailure: (failure: Failure) => void;
}

/** A chart as a picture. Its place has its height at once; the picture comes when it is near. */
export function Picture({ specs, label, onFailure }: PictureProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const near = useNear(place);
  const [scrolls, setScrolls] = useState(false);
  const spec = width < WIDE ? specs.narrow : specs.wide;
  const height = reservedHeight(spec);

  useEffect(() => {
    if (!near || width === 0) return;
    let wanted = true;
    let drawing: Drawing | null = null;
    const show = (drawn: Drawing) => {
      if (!wanted || !canvas.current) {
        drawn.end();
        return;
      }
      drawing = drawn;
      // A few pixels too many are scaled away; a chart that needs much more room scrolls.
      const tooWide = drawn.size.width > width * 1.08;
      drawn.svg.style.width = tooWide ? `${drawn.size.width}px` : "";
      // The picture has one name, its place's; its numbers are in a table.
      drawn.svg.setAttribute("aria-hidden", "true");
      canvas.current.replaceChildren(drawn.svg);
      setScrolls(tooWide);
    };
    const fail = (failure: Failure) => {
      if (wanted) onFailure(failure);
    };
    import("./drawing").then(
      ({ draw }) =>
        draw(spec, vegaConfig(pageFont()), { width, height }).then(show, () => {
          fail("undrawable");
        }),
      () => {
        fail("unloaded");
      },
    );
    return () => {
      wanted = false;
      drawing?.end();
    };
  }, [near, width, height, spec, onFailure]);

  return (
    <div
      class="chart-place"
      ref={place}
      style={{ height: `${height}px` }}
      {...(scrolls && { role: "group", "aria-label": "Chart, scrolls sideways", tabIndex: 0 })}
    >
      <div class="chart-canvas" ref={canvas} role="img" aria-label={label} />
    </div>
  );
}
