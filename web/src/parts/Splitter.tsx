import "./Splitter.css";

import { useRef, useState } from "preact/hooks";

import { remember, remembered } from "./storage";

/** How a box is divided: the share of the first part, in percent. */
export interface Split {
  share: number;
  set: (share: number) => void;
  reset: () => void;
}

const SMALLEST = 20;
const LARGEST = 80;
const STEP = 2;

/** A share between the bounds, to a tenth. */
export function bounded(share: number): number {
  return Math.round(Math.min(LARGEST, Math.max(SMALLEST, share)) * 10) / 10;
}

/** The share after a key; null for keys that are not ours. */
export function moved(share: number, key: string, vertical: boolean): number | null {
  if (key === (vertical ? "ArrowLeft" : "ArrowUp")) return bounded(share - STEP);
  if (key === (vertical ? "ArrowRight" : "ArrowDown")) return bounded(share + STEP);
  if (key === "Home") return SMALLEST;
  if (key === "End") return LARGEST;
  return null;
}

/** A division that is remembered in this browser under `name`. */
export function useSplit(name: string, standard: number): Split {
  const key = `judge:split:${name}`;
  const [share, setShare] = useState(() => {
    const kept = Number.parseFloat(remembered(key) ?? "");
    return Number.isFinite(kept) ? bounded(kept) : standard;
  });
  return {
    share,
    set: (next) => {
      setShare(bounded(next));
      remember(key, String(bounded(next)));
    },
    reset: () => {
      setShare(standard);
      remember(key, null);
    },
  };
}

interface Props {
  label: string;
  /** The id of the first part. */
  controls: string;
  /** The line stands between left and right, or lies between above and below. */
  orientation: "vertical" | "horizontal";
  split: Split;
}

/** The line between two parts: dragged, moved by arrows, Home and End, put back by double click. */
export function Splitter({ label, controls, orientation, split }: Props) {
  const line = useRef<HTMLDivElement>(null);
  const vertical = orientation === "vertical";
  const drag = (event: PointerEvent) => {
    const box = line.current?.parentElement?.getBoundingClientRect();
    if (!box || !line.current?.hasPointerCapture(event.pointerId)) return;
    const along = vertical
      ? (event.clientX - box.left) / box.width
      : (event.clientY - box.top) / box.height;
    split.set(along * 100);
  };
  return (
    <div
      ref={line}
      class={`splitter ${orientation}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-controls={controls}
      aria-orientation={orientation}
      aria-valuenow={Math.round(split.share)}
      aria-valuemin={SMALLEST}
      aria-valuemax={LARGEST}
      title="Drag, or move with the arrow keys. Double click puts it back."
      onPointerDown={(event) => {
        if (event.button === 0) event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onDblClick={split.reset}
      onKeyDown={(event) => {
        const share = moved(split.share, event.key, vertical);
        if (share === null) return;
        event.preventDefault();
        split.set(share);
      }}
    />
  );
}
