import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Tab<Id extends string> {
  id: Id;
  label: ComponentChildren;
}

interface Props<Id extends string> {
  /** What the tabs choose between, for screen readers. */
  label: string;
  /** Tabs are `{name}-tab-{id}`, their panels must be `{name}-panel-{id}`. */
  name: string;
  /** The id of the one panel of all of them, where it is the same one. */
  panel?: string;
  class: string;
  tabs: readonly Tab<Id>[];
  active: Id;
  onSelect: (id: Id) => void;
}

/** A row of tabs: one of them is in the tab order, arrows, Home and End go to the others. */
export function Tabs<Id extends string>(props: Props<Id>) {
  const { label, name, panel, tabs, active, onSelect } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (list.current) scrollToSelected(list.current);
  }, [active, tabs.length]);
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    // With Alt, the arrows are the browser's: back and forth.
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = neighbour(
      tabs.map((tab) => tab.id),
      active,
      event.key,
    );
    if (next === null) return;
    event.preventDefault();
    onSelect(next);
    event.currentTarget.querySelector<HTMLElement>(`#${name}-tab-${next}`)?.focus();
  };
  return (
    <div class={props.class} ref={list} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`${name}-tab-${tab.id}`}
          aria-controls={panel ?? `${name}-panel-${tab.id}`}
          aria-selected={tab.id === active}
          tabIndex={tab.id === active ? 0 : -1}
          onClick={() => {
            onSelect(tab.id);
          }}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}

/** Sideways only: what the row itself stands in stays where it is. */
function scrollToSelected(list: HTMLElement): void {
  const tab = list.querySelector('[aria-selected="true"]');
  if (!tab) return;
  const room = list.getBoundingClientRect();
  const { left, right } = tab.getBoundingClientRect();
  if (right > room.right) list.scrollLeft += Math.ceil(right - room.right);
  if (left < room.left) list.scrollLeft -= Math.ceil(room.left - left);
}

/** The tab that a key goes to, round and round; null for keys that are not ours. */
export function neighbour<Id extends string>(
  ids: readonly Id[],
  active: Id,
  key: string,
): Id | null {
  const at = ids.indexOf(active);
  switch (key) {
    case "ArrowRight":
      return ids[(at + 1) % ids.length] ?? null;
    case "ArrowLeft":
      return ids[(at - 1 + ids.length) % ids.length] ?? null;
    case "Home":
      return ids[0] ?? null;
    case "End":
      return ids.at(-1) ?? null;
    default:
      return null;
  }
}
