/**
 * The editor of one exercise from when its page is opened until it is left.
 *
 * It joins the tabs' texts, the draft that is kept of them, and what is loaded once the editor can
 * be used: findings, formatting, the language server. The page draws its signals.
 */
import { isolateHistory, undo } from "@codemirror/commands";
import type { Extension } from "@codemirror/state";
import { batch, signal } from "@preact/signals";

import type { Frame, ProblemPage } from "../api/types";
import { whenIdle } from "../parts/idle";
import { Buffers } from "./buffers";
import type { Commands } from "./commands";
import { type Draft, DraftKeeper, type Kept, type Texts } from "./drafts";
import type { EditorHandle } from "./handle";
import { type Keys, loadKeys, rememberKeys, rememberedKeys } from "./keys";
import type { Language } from "./language";
import { markFailed, revealLine } from "./marks";
import type { Ruff } from "./ruff";
import { extensionsOf, findingsPart, keysPart, languagePart, nameOf, namePart } from "./setup";
import { addedTab, type Tab, tabsOf } from "./tabs";
import { freeName, isTestFile, nameFault } from "./testFiles";

const PAUSE_MS = 300;

/** A sentence about what was just done; some of it can be undone by a button. */
interface Said {
  words: string;
  undo: (() => void) | null;
}

interface Linting {
  ruff: Ruff;
  lint: typeof import("./lint");
}

export class Session implements EditorHandle {
  readonly tabs = signal<readonly Tab[]>([]);
  /** The index of the tab that is shown. */
  readonly shown = signal(0);
  readonly keys = signal<Keys>("standard");
  /** When the draft was kept, or why not; null before the first change. */
  readonly kept = signal<Kept | null>(null);
  readonly said = signal<Said | null>(null);
  /** Grows whenever a text changes. */
  readonly changes = signal(0);
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
    pageDoes: Pick<Commands, "run" | "submit" | "grade">,
  ) {
    this.#problem = problem;
    this.#keeper = new DraftKeeper(problem.slug, problem.version);
    const draft = this.#keeper.load();
    this.tabs.value = tabsOf(problem, draft?.files ?? {});
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
      tabs: this.tabs.value,
      texts: this.tabs.value.map((tab) => textOf(tab, draft)),
      extensions: (tab) => extensionsOf(tab, this.#namesFor(tab), does),
      onChange: () => {
        this.changes.value += 1;
        this.#changed();
      },
    });
    this.#tellOf(draft);
    this.#watch();
    const keys = rememberedKeys();
    if (keys !== "standard") void this.#useKeys(keys);
    whenIdle(() => {
      if (!this.#ended) void this.#startHelp();
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
    return this.#textsOf("file");
  }

  tests(): Record<string, string> {
    return this.#textsOf("tests");
  }

  scratch(): string {
    return this.#buffers.text(this.tabs.value.findIndex(({ kind }) => kind === "scratch"));
  }

  reveal(frame: Frame): void {
    const index = this.#indexOf(frame.file);
    if (index < 0) return;
    this.show(index);
    this.#buffers.dispatch(index, revealLine(this.#buffers.state(index), frame.line));
    this.focus();
  }

  replace(files: Record<string, string>): void {
    const before = { ...this.files(), ...this.tests() };
    this.#replace(files);
    const undoReplacing = () => {
      this.#replace(before);
    };
    this.said.value = { words: "Restored. Undo brings back what was here.", undo: undoReplacing };
  }

  #replace(files: Record<string, string>): void {
    for (const [name, text] of Object.entries(files)) {
      const index = this.#indexOf(name);
      if (index >= 0) this.#buffers.replace(index, text);
      else if (this.#takesTests && isTestFile(name)) {
        this.#insert(addedTab(name), text);
        this.#changed();
      }
    }
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
    const undoReset = () => {
      undo(this.#buffers.view);
    };
    this.said.value = { words: "Reset. Undo brings it back.", undo: undoReset };
  }

  /** Open an empty file for more tests. */
  addTests(): void {
    const name = freeName(this.tabs.value.map(({ file }) => file));
    this.#insert(addedTab(name), "");
    this.#changed();
    this.show(this.#indexOf(name));
    this.focus();
  }

  /** Give the added file that is shown another name; why it cannot have it, if it cannot. */
  rename(name: string): string | null {
    const { file } = this.tab;
    if (name === file) return null;
    const taken = this.tabs.value.map((tab) => tab.file);
    const fault = nameFault(name, taken);
    if (fault !== null || !this.tab.isAdded) return fault;
    const renamed = addedTab(name);
    this.#buffers.rename(this.#buffers.shown, renamed, namePart, nameOf(renamed));
    this.#follow();
    this.#changed();
    return null;
  }

  /** Take the added file that is shown away; it can be brought back. */
  remove(): void {
    const { tab } = this;
    const index = this.#buffers.shown;
    if (!tab.isAdded) return;
    const text = this.#buffers.text(index);
    this.#buffers.remove(index);
    this.#follow();
    this.#changed();
    const undoRemoval = () => {
      this.#insert(tab, text);
      this.#changed();
      this.show(this.#indexOf(tab.file));
    };
    this.said.value = { words: `${tab.file} is removed.`, undo: undoRemoval };
    this.focus();
  }

  undo(): void {
    this.said.value?.undo?.();
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
    this.tabs.value.forEach((tab, index) => {
      const lines = frames.filter(({ file }) => file === tab.file).map(({ line }) => line);
      const text = tab.kind === "provided" ? tab.starter : sent[tab.file];
      const failed = lines.length > 0 && text !== undefined ? { sent: text, lines } : null;
      this.#buffers.dispatch(index, markFailed(failed));
    });
  }

  // Tabs that come and go.

  get #takesTests(): boolean {
    return this.#problem.own_tests !== null;
  }

  #indexOf(file: string): number {
    return this.tabs.value.findIndex((tab) => tab.file === file);
  }

  /** Put a file of tests behind the others, before the scratch tab. */
  #insert(tab: Tab, text: string): void {
    this.#buffers.insert(this.#buffers.tabs.length - 1, tab, text);
    this.#follow();
  }

  /** The tabs are another list, or have other names. */
  #follow(): void {
    batch(() => {
      this.tabs.value = this.#buffers.tabs;
      this.shown.value = this.#buffers.shown;
    });
  }

  // Drafts.

  #textsOf(kind: Tab["kind"]): Record<string, string> {
    return Object.fromEntries(
      this.tabs.value.flatMap((tab, index) =>
        tab.kind === kind ? [[tab.file, this.#buffers.text(index)]] : [],
      ),
    );
  }

  #texts(): Texts {
    return { files: { ...this.files(), ...this.tests() }, scratch: this.scratch() };
  }

  #write(texts: Texts | null): void {
    const wanted = tabsOf(this.#problem, texts?.files ?? {});
    const isWanted = (file: string) => wanted.some((tab) => tab.file === file);
    this.tabs.value
      .filter(({ file }) => !isWanted(file))
      .forEach(({ file }) => {
        this.#buffers.remove(this.#buffers.tabs.findIndex((tab) => tab.file === file));
      });
    this.#follow();
    for (const tab of wanted) {
      const index = this.#indexOf(tab.file);
      if (index < 0) this.#insert(tab, textOf(tab, texts));
      else this.#buffers.replace(index, textOf(tab, texts));
    }
  }

  #tellOf(draft: Draft | null): void {
    this.#seePrevious();
    if (draft === null) return;
    this.kept.value = { kind: "saved", atMs: draft.savedAtMs };
    if (draft.version !== this.#problem.version) {
      const words = "The exercise has changed since this draft. Reset to starter has its new form.";
      this.said.value = { words, undo: null };
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
    const untouched = this.tabs.value.every(
      ({ starter, isAdded }, index) => !isAdded && this.#buffers.text(index) === starter,
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
      this.said.value = { words: "These keys could not be loaded.", undo: null };
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
      this.said.value = { words: NOT_FORMATTED[formatted.kind], undo: null };
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

/** What a tab begins with; a draft may be older than one of the files. */
function textOf({ kind, file, starter }: Tab, draft: Texts | null): string {
  if (draft === null || kind === "provided") return starter;
  return kind === "scratch" ? draft.scratch : (draft.files[file] ?? starter);
}

const NOT_FORMATTED = {
  unreadable: "Not formatted: this is not valid Python yet.",
  broken: "Not formatted: the formatter could not be loaded.",
};
