/** Where a chart stands: how wide that is, and whether it is to be drawn by now. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

import { whenIdle } from "../parts/idle";

const NEAR = "600px";
const CALM_MS = 3000; // by then what is seen and typed into has come
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

/**
 * Whether it is near what the reader sees, or has been, or there was nothing else to do.
 *
 * Nobody can be asked to wait for a chart when a page is printed, so all of them are drawn before.
 */
export function useNear(place: Place): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element || near) return;
    // Panes scroll on their own, so their edges count and not the window's alone.
    const margins = { rootMargin: NEAR, scrollMargin: NEAR };
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setNear(true);
    }, margins);
    observer.observe(element);
    const calm = setTimeout(() => {
      whenIdle(() => {
        setNear(true);
      });
    }, CALM_MS);
    return () => {
      observer.disconnect();
      clearTimeout(calm);
    };
  }, [place, near]);
  return near;
}
