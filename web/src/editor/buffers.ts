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

interface Buffer {
  tab: Tab;
  state: EditorState;
  /** How far it was scrolled when it was left. */
  scrolled: StateEffect<unknown> | null;
}

export class Buffers {
  readonly view: EditorView;
  readonly #buffers: Buffer[];
  readonly #extensions: (tab: Tab) => Extension;
  readonly #onChange: () => void;
  /** What was configured last; a tab that comes later gets it too. */
  readonly #configured = new Map<Compartment, (tab: Tab) => Extension>();
  #shown = 0;

  constructor({ parent, tabs, texts, extensions, onChange }: BuffersOptions) {
    this.#extensions = extensions;
    this.#onChange = onChange;
    this.#buffers = tabs.map((tab, index) => this.#new(tab, texts[index] ?? tab.starter));
    this.view = new EditorView({ parent, state: this.#buffer(0).state });
  }

  get tab(): Tab {
    return this.#buffer(this.#shown).tab;
  }

  get tabs(): Tab[] {
    return this.#buffers.map(({ tab }) => tab);
  }

  /** The index of the tab that is shown. */
  get shown(): number {
    return this.#shown;
  }

  show(index: number): void {
    if (index === this.#shown) return;
    const left = this.#buffer(this.#shown);
    left.state = this.view.state;
    left.scrolled = this.view.scrollSnapshot();
    this.#enter(index);
  }

  /** Put a tab before the one at `index`. */
  insert(index: number, tab: Tab, text: string): void {
    const added = this.#new(tab, text);
    for (const [compartment, extension] of this.#configured) {
      const effects = compartment.reconfigure(extension(tab));
      added.state = added.state.update({ effects }).state;
    }
    this.#buffers.splice(index, 0, added);
    if (index <= this.#shown) this.#shown += 1;
  }

  /** Take a tab away; where it was shown, the one before it is. */
  remove(index: number): void {
    if (index === this.#shown) this.show(Math.max(0, index - 1));
    this.#buffers.splice(index, 1);
    if (index < this.#shown) this.#shown -= 1;
  }

  /** Give a tab another name, with `compartment` for what its extensions say of it. */
  rename(index: number, tab: Tab, compartment: Compartment, extension: Extension): void {
    this.#buffer(index).tab = tab;
    this.dispatch(index, { effects: compartment.reconfigure(extension) });
  }

  state(index: number): EditorState {
    return index === this.#shown ? this.view.state : this.#buffer(index).state;
  }

  text(index: number): string {
    return this.state(index).doc.toString();
  }

  texts(): string[] {
    return this.#buffers.map((_, index) => this.text(index));
  }

  dispatch(index: number, change: TransactionSpec): void {
    if (index === this.#shown) {
      this.view.dispatch(change);
      return;
    }
    const buffer = this.#buffer(index);
    const transaction = buffer.state.update(change);
    buffer.state = transaction.state;
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
    this.#configured.set(compartment, extension);
    this.#buffers.forEach(({ tab }, index) => {
      this.dispatch(index, { effects: compartment.reconfigure(extension(tab)) });
    });
  }

  destroy(): void {
    this.view.destroy();
  }

  #new(tab: Tab, text: string): Buffer {
    const state = EditorState.create({
      doc: text,
      extensions: [
        this.#extensions(tab),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.#onChange();
        }),
      ],
    });
    return { tab, state, scrolled: null };
  }

  #enter(index: number): void {
    const { state, scrolled } = this.#buffer(index);
    this.#shown = index;
    this.view.setState(state);
    if (scrolled) this.view.dispatch({ effects: scrolled });
  }

  #buffer(index: number): Buffer {
    const buffer = this.#buffers[index];
    if (!buffer) throw new RangeError(`There is no tab ${index}.`);
    return buffer;
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
