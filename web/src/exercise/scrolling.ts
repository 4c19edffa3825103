/** What is wider than its column scrolls in a box of its own, which the keyboard can reach. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Make the boxes focusable for as long as they have something to scroll; returns what ends it. */
export function watchScrollable(boxes: readonly (readonly [HTMLElement, string])[]): () => void {
  const labels = new Map<Element, string>(boxes);
  const sizes = new ResizeObserver((entries) => {
    for (const { target } of entries) mark(target as HTMLElement, labels.get(target) ?? "");
  });
  const stop = new AbortController();
  for (const [box] of boxes) {
    sizes.observe(box);
    box.addEventListener(
      "scroll",
      () => {
        box.dataset.more = sidesWithMore(box);
      },
      { passive: true, signal: stop.signal },
    );
  }
  // A font that arrives makes wider what is in a box, and not the box.
  const onFonts = () => {
    for (const [box, label] of boxes) mark(box, label);
  };
  document.fonts.addEventListener("loadingdone", onFonts);
  return () => {
    stop.abort();
    sizes.disconnect();
    document.fonts.removeEventListener("loadingdone", onFonts);
  };
}

/** To which sides of it there is more than is seen, for a style to tell of it. */
export function sidesWithMore(
  box: Pick<HTMLElement, "scrollLeft" | "clientWidth" | "scrollWidth">,
): string {
  const sides: string[] = [];
  // Where one has scrolled to is not a whole number on every screen.
  if (box.scrollLeft > 1) sides.push("left");
  if (box.scrollWidth - box.clientWidth - box.scrollLeft > 1) sides.push("right");
  return sides.join(" ");
}

function mark(box: HTMLElement, label: string): void {
  box.dataset.more = sidesWithMore(box);
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${label}, scrolls sideways`);
  } else {
    box.removeAttribute("tabindex");
    box.removeAttribute("role");
    box.removeAttribute("aria-label");
  }
}

/** The same for one element of a component. */
export function useScrollable<Box extends HTMLElement>(label: string): RefObject<Box | null> {
  const box = useRef<Box>(null);
  useEffect(() => {
    if (box.current) return watchScrollable([[box.current, label]]);
  }, [label]);
  return box;
}
