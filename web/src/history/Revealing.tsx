import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { keepRevealed, revealedOf, type Help } from "./revealed";

interface RevealingProps {
  help: Help;
  slug: string;
  count: number;
  /** What the button says that shows the part of this index. */
  next: (index: number) => ComponentChildren;
  children: (index: number) => ComponentChildren;
}

/** Parts that are shown one by one, and stay shown in this browser. */
export function Revealing({ help, slug, count, next, children }: RevealingProps) {
  const [revealed, setRevealed] = useState(() => revealedOf(help, slug, count));
  const list = useRef<HTMLOListElement>(null);
  const asked = useRef(false);

  // Reading goes on at what was asked for, with the keyboard and for a screen reader too.
  useLayoutEffect(() => {
    const last = list.current?.lastElementChild;
    if (asked.current && last instanceof HTMLElement) last.focus();
    asked.current = false;
  }, [revealed]);

  const reveal = () => {
    asked.current = true;
    setRevealed(revealed + 1);
    keepRevealed(help, slug, revealed + 1);
  };
  return (
    <>
      <ol class={`revealing revealing-${help}`} ref={list}>
        {Array.from({ length: revealed }, (_, index) => (
          <li key={index} tabIndex={-1}>
            {children(index)}
          </li>
        ))}
      </ol>
      {revealed < count && (
        <button type="button" class="button" onClick={reveal}>
          {next(revealed)}
        </button>
      )}
    </>
  );
}
