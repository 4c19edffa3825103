/** One view, and a state per tab that is kept with its undo history while another is shown. */
import { isolateHistory } from "@codemirror/commands";
import {
  type Compartment,
  EditorState,
  type Extension,
  type StateEffect,
  type TransactionSpec,
} from "@codemirror/state";
import { EditorView } from "@codemirror/view";

import type { Tab } from "./tabs";

interface BuffersOptions {
  parent: HTMLElement;
  tabs: readonly Tab[];
  /** What each tab begins with, in their order. */
  texts: readonly string[];
  extensions: (tab: Tab) => Extension;
  /** The text of a tab was changed, by whatever. */
  onChange: () => void;
}

export class Buffers {
  readonly view: EditorView;
  readonly #tabs: readonly Tab[];
  readonly #states: EditorState[];
  readonly #onChange: () => void;
  /** How far each tab was scrolled when it was left. */
  readonly #scrolled = new Map<number, StateEffect<unknown>>();
  #shown = 0;

  constructor({ parent, tabs, texts, extensions, onChange }: BuffersOptions) {
    this.#tabs = tabs;
    this.#onChange = onChange;
    this.#states = tabs.map((tab, index) =>
      EditorState.create({
        doc: texts[index] ?? tab.starter,
        extensions: [
          extensions(tab),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange();
          }),
        ],
      }),
    );
    this.view = new EditorView({ parent, state: this.#state(0) });
  }

  get tab(): Tab {
    return this.#tab(this.#shown);
  }

  show(index: number): void {
    if (index === this.#shown) return;
    this.#states[this.#shown] = this.view.state;
    this.#scrolled.set(this.#shown, this.view.scrollSnapshot());
    this.#shown = index;
    this.view.setState(this.#state(index));
    const scrolled = this.#scrolled.get(index);
    if (scrolled) this.view.dispatch({ effects: scrolled });
  }

  state(index: number): EditorState {
    return index === this.#shown ? this.view.state : this.#state(index);
  }

  text(index: number): string {
    return this.state(index).doc.toString();
  }

  texts(): string[] {
    return this.#tabs.map((_, index) => this.text(index));
  }

  dispatch(index: number, change: TransactionSpec): void {
    if (index === this.#shown) {
      this.view.dispatch(change);
      return;
    }
    const transaction = this.#state(index).update(change);
    this.#states[index] = transaction.state;
    if (transaction.docChanged) this.#onChange();
  }

  /** Replace the text of a tab, as one change that can be undone. */
  replace(index: number, text: string): void {
    const { doc } = this.state(index);
    const changes = difference(doc.toString(), text);
    if (changes === null) return;
    this.dispatch(index, {
      changes,
      annotations: isolateHistory.of("full"),
      userEvent: "input.replace",
    });
  }

  /** Give a compartment of every tab's extensions its content. */
  configure(compartment: Compartment, extension: (tab: Tab) => Extension): void {
    this.#tabs.forEach((tab, index) => {
      this.dispatch(index, { effects: compartment.reconfigure(extension(tab)) });
    });
  }

  destroy(): void {
    this.view.destroy();
  }

  #state(index: number): EditorState {
    const state = this.#states[index];
    if (!state) throw new RangeError(`There is no tab ${index}.`);
    return state;
  }

  #tab(index: number): Tab {
    const tab = this.#tabs[index];
    if (!tab) throw new RangeError(`There is no tab ${index}.`);
    return tab;
  }
}

/** The change between two texts without what they begin and end with alike; null if they are. */
export function difference(
  old: string,
  next: string,
): { from: number; to: number; insert: string } | null {
  if (old === next) return null;
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  return { from: start, to: old.length - end, insert: next.slice(start, next.length - end) };
}
