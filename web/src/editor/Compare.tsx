import "./Compare.css";

import { useEffect, useRef, useState } from "preact/hooks";

import type { Side } from "./merge";

/** From this width there is room for two columns of code. */
const SIDE_BY_SIDE_PX = 700;

/** Two texts side by side, differences marked, unchanged parts folded; both are read-only. */
export function Compare({ left, right }: { left: Side; right: Side }) {
  const host = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState<boolean | null>(null);
  const [folded, setFolded] = useState(true);
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");

  useEffect(() => {
    if (!host.current) return;
    // Its own width and not the window's: it may stand in a narrow pane.
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWide(entry.contentRect.width >= SIDE_BY_SIDE_PX);
    });
    observer.observe(host.current);
    return () => {
      observer.disconnect();
    };
  }, []);

  const { title: leftTitle, text: leftText } = left;
  const { title: rightTitle, text: rightText } = right;
  useEffect(() => {
    const parent = host.current;
    if (!parent || wide === null) return;
    let gone = false;
    let remove = () => {
      gone = true;
    };
    import("./merge").then(
      ({ showMerge }) => {
        if (gone) return;
        const sides = {
          left: { title: leftTitle, text: leftText },
          right: { title: rightTitle, text: rightText },
        };
        remove = showMerge({ parent, ...sides, wide, folded });
        setState("shown");
      },
      () => {
        if (!gone) setState("failed");
      },
    );
    return () => {
      remove();
    };
  }, [leftTitle, leftText, rightTitle, rightText, wide, folded]);

  return (
    <div class="compare" role="group" aria-label={`${leftTitle} compared with ${rightTitle}`}>
      <div class="compare-titles">
        <del>
          <span class="compare-sign" aria-hidden="true">
            −
          </span>
          {leftTitle}
        </del>
        <ins>
          <span class="compare-sign" aria-hidden="true">
            +
          </span>
          {rightTitle}
        </ins>
        <button
          type="button"
          class="button plain"
          aria-pressed={!folded}
          onClick={() => {
            setFolded(!folded);
          }}
        >
          All lines
        </button>
      </div>
      {leftText === rightText && <p class="compare-note">The two texts are the same.</p>}
      {state === "loading" && <p class="compare-note quiet">The comparison is on its way.</p>}
      {state === "failed" && (
        <p class="compare-note" role="status">
          The comparison could not be loaded. Reload the page to try again.
        </p>
      )}
      {/* What scrolls would be a stop of its own on the way to the two texts, which scroll it too. */}
      <div class="compare-host" ref={host} tabIndex={-1} />
    </div>
  );
}
