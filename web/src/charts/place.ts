/** Where a chart stands: how wide that is, whether it is about to be seen, and in which theme. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

import { onThemeChange, readTheme, type Theme } from "./theme";

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

/** Whether it is near what the reader sees, or has been. */
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
    return () => {
      observer.disconnect();
    };
  }, [place, near]);
  return near;
}

/** The page's theme, again after each change; null before the first look at it. */
export function useTheme(place: Place): Theme | null {
  const [theme, setTheme] = useState<Theme | null>(null);
  useLayoutEffect(() => {
    const look = () => {
      if (place.current) setTheme(readTheme(place.current));
    };
    look();
    return onThemeChange(look);
  }, [place]);
  return theme;
}
