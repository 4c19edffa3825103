import type { RefObject } from "preact";

import { useShortcuts } from "../parts/shortcuts";
import { nextRow } from "./rows";

/** What the list and the search listen to; the single keys are heard on the whole page. */
interface RowKeys {
  onListKey: (event: KeyboardEvent) => void;
  onSearchKey: (event: KeyboardEvent) => void;
}

/**
 * `/` goes to the search; j and k to the next and previous row from anywhere, the arrows from a row
 * and down from the search. Enter is the link's own.
 */
export function useRowKeys(
  list: RefObject<HTMLElement | null>,
  search: RefObject<HTMLInputElement | null>,
): RowKeys {
  const move = (key: string): boolean => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>(".problems-title") ?? [])];
    const row = document.activeElement?.closest("li");
    const current = links.findIndex((link) => row?.contains(link) === true);
    const next = nextRow(key, current, links.length);
    if (next !== null) links[next]?.focus();
    return next !== null;
  };
  useShortcuts({
    "/": () => {
      search.current?.select();
    },
    j: () => move("j"),
    k: () => move("k"),
  });
  return {
    onListKey: (event) => {
      if (event.key.startsWith("Arrow") && move(event.key)) event.preventDefault();
    },
    onSearchKey: (event) => {
      if (event.key === "ArrowDown" && move(event.key)) event.preventDefault();
    },
  };
}
