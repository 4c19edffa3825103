/**
 * The editor of one exercise from when its page is opened until it is left.
 *
 * It joins the tabs' texts, the draft that is kept of them, and what is loaded once the editor can
 * be used: findings, formatting, the language server. The page draws its signals.
 */
import { isolateHistory, undo } from "@codemirror/commands";
import type { Extension } from "@codemirror/state";
import { signal } from "@preact/signals";

import type { Frame, ProblemPage } from "../api/types";
import { Buffers } from "./buffers";
import type { Commands } from "./commands";
import { type Draft, DraftKeeper, type Kept, type Texts } from "./drafts";
import type { EditorHandle } from "./handle";
import { type Keys, loadKeys, rememberKeys, rememberedKeys } from "./keys";
import type { Language } from "./language";
import { markFailed, revealLine } from "./marks";
import type { Ruff } from "./ruff";
import { extensionsOf, findingsPart, keysPart, languagePart } from "./setup";
import { type Tab, tabsOf } from "./tabs";

const PAUSE_MS = 300;

/** A sentence about what was just done; some of it can be undone by a button. */
interface Said {
  words: string;
  undo: boolean;
}

interface Linting {
  ruff: Ruff;
  lint: typeof import("./lint");
}

export class Session implements EditorHandle {
  readonly tabs: readonly Tab[];
  /** The index of the tab that is shown. */
  readonly shown = signal(0);
  readonly keys = signal<Keys>("standard");
  /** When the draft was kept, or why not; null before the first change. */
  readonly kept = signal<Kept | null>(null);
  readonly said = signal<Said | null>(null);
  /** Whether two tabs of the browser changed the exercise and the other text is still here. */
  readonly hasPrevious = signal(false);

  readonly #problem: ProblemPage;
  readonly #buffers: Buffers;
  readonly #keeper: DraftKeeper;
  readonly #stop = new AbortController();
  #pause: ReturnType<typeof setTimeout> | undefined;
  #takingOver = false;
  #linting: Promise<Linting | null> | null = null;
  #language: Language | null = null;

  constructor(
    parent: HTMLElement,
    problem: ProblemPage,
    pageDoes: Pick<Commands, "run" | "submit">,
  ) {
    this.#problem = problem;
    this.tabs = tabsOf(problem);
    this.#keeper = new DraftKeeper(problem.slug, problem.version);
    const draft = this.#keeper.load();
    const does: Commands = {
      ...pageDoes,
      keep: () => {
        this.#save();
      },
      formatAndKeep: () => {
        void this.#format().then(() => {
          this.#save();
        });
      },
    };
    this.#buffers = new Buffers({
      parent,
      tabs: this.tabs,
      texts: this.#textsOf(draft),
      extensions: (tab) => extensionsOf(tab, this.#namesFor(tab), does),
      onChange: () => {
        this.#changed();
      },
    });
    this.#tellOf(draft);
    this.#watch();
    const keys = rememberedKeys();
    if (keys !== "standard") void this.#useKeys(keys);
    this.#whenIdle(() => {
      void this.#startHelp();
    });
  }

  end(): void {
    this.#stop.abort();
    clearTimeout(this.#pause);
    this.#save();
    this.#language?.end();
    void this.#linting?.then((linting) => linting?.ruff.end());
    this.#buffers.destroy();
  }

  // What other panes ask for.

  files(): Record<string, string> {
    return Object.fromEntries(
      this.tabs.flatMap((tab, index) =>
        tab.kind === "file" ? [[tab.file, this.#buffers.text(index)]] : [],
      ),
    );
  }

  scratch(): string {
    return this.#buffers.text(this.tabs.findIndex(({ kind }) => kind === "scratch"));
  }

  reveal(frame: Frame): void {
    const index = this.tabs.findIndex(({ file }) => file === frame.file);
    if (index < 0) return;
    this.show(index);
    this.#buffers.dispatch(index, revealLine(this.#buffers.state(index), frame.line));
    this.focus();
  }

  replace(files: Record<string, string>): void {
    this.tabs.forEach((tab, index) => {
      const text = files[tab.file];
      if (tab.kind === "file" && text !== undefined) this.#buffers.replace(index, text);
    });
  }

  format(): void {
    void this.#format();
  }

  focus(): void {
    this.#buffers.view.focus();
  }

  // What the pane around the editor asks for.

  get tab(): Tab {
    return this.#buffers.tab;
  }

  show(index: number): void {
    if (index === this.shown.value) return;
    this.shown.value = index;
    this.said.value = null;
    this.#buffers.show(index);
  }

  /** Give the tab that is shown the text it began with. */
  reset(): void {
    this.#buffers.replace(this.shown.value, this.tab.starter);
    this.said.value = { words: "Reset. Undo brings it back.", undo: true };
  }

  undo(): void {
    undo(this.#buffers.view);
    this.said.value = null;
    this.focus();
  }

  chooseKeys(keys: Keys): void {
    rememberKeys(keys);
    void this.#useKeys(keys);
  }

  /** Change places with the draft that another tab of the browser had. */
  bringBack(): void {
    const previous = this.#keeper.previous();
    if (previous) {
      const current = this.#texts();
      this.#write(previous);
      this.#save();
      this.#keeper.setPrevious(current);
    }
    this.#seePrevious();
    this.focus();
  }

  forgetPrevious(): void {
    this.#keeper.setPrevious(null);
    this.#seePrevious();
    this.focus();
  }

  /** Mark where `sent` files failed, in tabs that still have their text. */
  markFrames(frames: readonly Frame[], sent: Readonly<Record<string, string>>): void {
    this.tabs.forEach((tab, index) => {
      const lines = frames.filter(({ file }) => file === tab.file).map(({ line }) => line);
      const text = tab.kind === "provided" ? tab.starter : sent[tab.file];
      const failed = lines.length > 0 && text !== undefined ? { sent: text, lines } : null;
      this.#buffers.dispatch(index, markFailed(failed));
    });
  }

  // Drafts.

  #textsOf(draft: Texts | null): string[] {
    return this.tabs.map(({ kind, file, starter }) => {
      if (draft === null || kind === "provided") return starter;
      return kind === "scratch" ? draft.scratch : (draft.files[file] ?? starter);
    });
  }

  #texts(): Texts {
    return { files: this.files(), scratch: this.scratch() };
  }

  #write(texts: Texts | null): void {
    this.#textsOf(texts).forEach((text, index) => {
      this.#buffers.replace(index, text);
    });
  }

  #tellOf(draft: Draft | null): void {
    this.#seePrevious();
    if (draft === null) return;
    this.kept.value = { kind: "saved", atMs: draft.savedAtMs };
    if (draft.version !== this.#problem.version) {
      const words = "The exercise has changed since this draft. Reset to starter has its new form.";
      this.said.value = { words, undo: false };
    }
  }

  #changed(): void {
    if (this.#takingOver) return;
    this.said.value = null;
    this.#keeper.changed();
    this.#language?.changed();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#save();
    }, PAUSE_MS);
  }

  #save(): void {
    const untouched = this.tabs.every(
      ({ starter }, index) => this.#buffers.text(index) === starter,
    );
    const kept = this.#keeper.save(untouched ? null : this.#texts());
    if (kept === null) return;
    this.kept.value = kept;
    this.#seePrevious();
  }

  #watch(): void {
    const { signal: stopped } = this.#stop;
    const listen = { signal: stopped };
    addEventListener(
      "pagehide",
      () => {
        this.#save();
      },
      listen,
    );
    document.addEventListener(
      "visibilitychange",
      () => {
        if (document.visibilityState === "hidden") this.#save();
        else this.#takeOver(false);
      },
      listen,
    );
    addEventListener(
      "storage",
      ({ key, newValue }) => {
        if (!this.#keeper.concerns(key)) return;
        this.#takeOver(key !== null && newValue === null);
        this.#seePrevious();
      },
      listen,
    );
  }

  /** Show what another tab has kept. Only a reset there empties this one, not a cleared storage. */
  #takeOver(wasReset: boolean): void {
    const taken = this.#keeper.takeOver();
    if (taken === null || (taken.draft === null && !wasReset)) return;
    this.#takingOver = true;
    this.#write(taken.draft);
    this.#takingOver = false;
    this.kept.value = taken.draft && { kind: "saved", atMs: taken.draft.savedAtMs };
  }

  #seePrevious(): void {
    this.hasPrevious.value = this.#keeper.previous() !== null;
  }

  // What is loaded later.

  async #useKeys(keys: Keys): Promise<void> {
    this.keys.value = keys;
    let extension: Extension;
    try {
      extension = await loadKeys(keys);
    } catch {
      this.keys.value = "standard";
      this.said.value = { words: "These keys could not be loaded.", undo: false };
      return;
    }
    // Another choice may have been made while this one was loading.
    if (this.keys.value === keys && !this.#ended) {
      this.#buffers.configure(keysPart, () => extension);
    }
  }

  get #ended(): boolean {
    return this.#stop.signal.aborted;
  }

  #whenIdle(start: () => void): void {
    // Safari has no idle callbacks.
    const later =
      typeof requestIdleCallback === "function"
        ? requestIdleCallback
        : (callback: () => void) => setTimeout(callback, 1000);
    later(() => {
      if (!this.#ended) start();
    });
  }

  async #startHelp(): Promise<void> {
    const linting = await this.#lint();
    if (this.#ended) return;
    if (linting) {
      const { ruff, lint } = linting;
      this.#buffers.configure(findingsPart, (tab) =>
        tab.kind === "provided" ? [] : lint.findings(ruff, () => this.#before(tab)),
      );
    }
    await this.#connect();
  }

  #lint(): Promise<Linting | null> {
    this.#linting ??= Promise.all([import("./ruff"), import("./lint")]).then(
      ([{ Ruff }, lint]) => ({ ruff: new Ruff(this.#problem.provided?.names ?? []), lint }),
      () => null,
    );
    return this.#linting;
  }

  async #connect(): Promise<void> {
    let module: typeof import("./language");
    try {
      module = await import("./language");
    } catch {
      return;
    }
    if (this.#ended) return;
    this.#language = new module.Language(this.#problem.slug, (extension) => {
      if (this.#ended) return;
      this.#buffers.configure(languagePart, (tab) =>
        extension !== null && tab.kind === "file" ? extension(tab.file) : [],
      );
    });
  }

  async #format(): Promise<void> {
    const index = this.shown.value;
    if (this.tab.kind === "provided") return;
    const text = this.#buffers.text(index);
    const linting = await this.#lint();
    const formatted = (await linting?.ruff.format(text)) ?? { kind: "broken" as const };
    if (this.#ended) return;
    if (formatted.kind !== "formatted") {
      this.said.value = { words: NOT_FORMATTED[formatted.kind], undo: false };
    } else if (linting && this.#buffers.text(index) === text && formatted.text !== text) {
      this.#buffers.dispatch(index, {
        changes: linting.lint.changesBetween(text, formatted.text),
        annotations: isolateHistory.of("full"),
        userEvent: "input.format",
      });
    }
  }

  /** What has run before a tab's code; null for a file, which stands for itself. */
  #before(tab: Tab): string | null {
    return tab.kind === "scratch" ? Object.values(this.files()).join("\n") : null;
  }

  #namesFor(tab: Tab): string[] {
    const { provided, entry_points: own } = this.#problem;
    return [...(provided?.names ?? []), ...(tab.kind === "scratch" ? own : [])];
  }
}

const NOT_FORMATTED = {
  unreadable: "Not formatted: this is not valid Python yet.",
  broken: "Not formatted: the formatter could not be loaded.",
};
