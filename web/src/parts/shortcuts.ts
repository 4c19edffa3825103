/**
 * Shortcuts of the page: single keys, and two in a row ("g s").
 *
 * They never fire while something is being typed, nor behind an open dialog. The second key of a
 * pair may come at any time, if only it is the next: not everybody types fast, nor every machine.
 */
import { useLayoutEffect, useRef } from "preact/hooks";

type Shortcuts = Record<string, () => void>;

/** What a key does: a shortcut by name, and the key that now waits for a second one. */
interface Stroke {
  shortcut: string | null;
  waiting: string | null;
}

/** `names` are the shortcuts there are; `waiting` is the key before, if it may begin a pair. */
export function stroke(names: readonly string[], waiting: string | null, key: string): Stroke {
  const pair = waiting === null ? null : `${waiting} ${key}`;
  if (pair !== null && names.includes(pair)) return { shortcut: pair, waiting: null };
  const begins = names.some((name) => name.startsWith(`${key} `));
  return { shortcut: names.includes(key) ? key : null, waiting: begins ? key : null };
}

/** Whether keys belong to what is focused: an editor, a field, a dialog. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector("dialog[open]")) return true;
  if (!(target instanceof Element)) return false;
  return target.closest("input, textarea, select, [contenteditable], .cm-editor") !== null;
}

/** Listen for shortcuts while the component stands. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  // Before the component can be seen: whoever sees it may press its keys.
  useLayoutEffect(() => {
    let before: string | null = null;
    const onKey = (event: KeyboardEvent) => {
      const modified = event.ctrlKey || event.metaKey || event.altKey;
      if (event.defaultPrevented || modified || event.isComposing || isTaken(event.target)) {
        before = null;
        return;
      }
      const { shortcut, waiting } = stroke(Object.keys(current.current), before, event.key);
      before = waiting;
      if (shortcut === null) return;
      event.preventDefault();
      current.current[shortcut]?.();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
    };
  }, []);
}
