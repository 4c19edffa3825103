/** Where a chart stands: how wide that is, and whether it is to be drawn by now. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

import { whenIdle } from "../parts/idle";

const NEAR = "600px";
const SETTLED_MS = 120; // a pane that is being dragged has no width yet

type Place = RefObject<HTMLElement | null>;

/** Its width in pixels, once it has settled; 0 before it is known. */
export function useWidth(place: Place): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    setWidth(element.clientWidth);
    let settling: ReturnType<typeof setTimeout> | undefined;
    const observer = new ResizeObserver(() => {
      clearTimeout(settling);
      settling = setTimeout(() => {
        setWidth(element.clientWidth);
      }, SETTLED_MS);
    });
    observer.observe(element);
    return () => {
      clearTimeout(settling);
      observer.disconnect();
    };
  }, [place]);
  return width;
}

/** Charts that nobody has come near to yet: each is drawn by what is kept here. */
const far = new Set<() => void>();
let reached = false;
let awaitsIdle = false;

/** Draw the far ones too, one in each idle moment: when a page is printed, nobody can wait. */
function drawFar(): void {
  if (awaitsIdle) return; // there is one row of them, whoever asks
  awaitsIdle = true;
  whenIdle(() => {
    awaitsIdle = false;
    const [draw] = far;
    if (!draw) return;
    far.delete(draw);
    draw();
    drawFar();
  });
}

/**
 * Whether it is near what the reader sees, or has been; or another has been, and there was nothing
 * else to do. Who never comes near to any chart is not made to load what draws them.
 */
export function useNear(place: Place): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element || near) return;
    // Panes scroll on their own, so their edges count and not the window's alone.
    const margins = { rootMargin: NEAR, scrollMargin: NEAR };
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      setNear(true);
      reached = true;
      drawFar();
    }, margins);
    observer.observe(element);
    const draw = () => {
      setNear(true);
    };
    far.add(draw);
    if (reached) drawFar();
    return () => {
      observer.disconnect();
      far.delete(draw);
    };
  }, [place, near]);
  return near;
}
