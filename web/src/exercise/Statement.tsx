/**
 * Safe HTML of a statement or an editorial, with its formulas typeset. Nothing else sets HTML.
 *
 * The text is made outside the page and put in when its formulas are ready, so that no line moves
 * while it is read. It does not wait for them for ever: TeX can be read too.
 */
import "../style/code.css";
import "./Statement.css";

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { dressed } from "./dressing";
import { watchScrollable } from "./scrolling";

/** Text without formulas after this long is better than no text. */
const PATIENCE_MS = 1200;
/** Typing goes on while a long statement is typeset. */
const SLICE_MS = 8;

/** Fetch what typesets formulas, ahead of the first statement. */
export const loadTypesetter = () => import("./typeset");

export function Statement({ html }: { html: string }) {
  return <div class="statement" ref={useSafeHtml<HTMLDivElement>(html)} />;
}

/** The same of a title: words and formulas in a line with others. */
export function StatementTitle({ html }: { html: string }) {
  return <span ref={useSafeHtml<HTMLSpanElement>(html)} />;
}

/** Gives an element of the page its content, which the judge has made safe. */
function useSafeHtml<Box extends HTMLElement>(html: string): RefObject<Box | null> {
  const box = useRef<Box>(null);
  useLayoutEffect(() => {
    const page = box.current;
    if (!page) return;
    const { content, scrollable } = dressed(html);
    const formulas = [...content.querySelectorAll<HTMLElement>(".math")];
    let unwatch: (() => void) | undefined;
    const show = () => {
      if (unwatch) return;
      page.replaceChildren(content);
      unwatch = watchScrollable(scrollable);
    };
    let current = true;
    const isCurrent = () => current;
    const patience = setTimeout(show, PATIENCE_MS);
    void typesetAll(formulas, isCurrent).then(() => {
      if (isCurrent()) show();
    });
    return () => {
      current = false;
      clearTimeout(patience);
      unwatch?.();
    };
  }, [html]);
  return box;
}

async function typesetAll(formulas: readonly HTMLElement[], goOn: () => boolean): Promise<void> {
  if (formulas.length === 0) return;
  const part = await loadTypesetter().catch(() => null);
  if (!part) return;
  let began = performance.now();
  for (const formula of formulas) {
    if (!goOn()) return;
    part.typeset(formula);
    if (performance.now() - began > SLICE_MS) {
      await new Promise((next) => setTimeout(next));
      began = performance.now();
    }
  }
}
