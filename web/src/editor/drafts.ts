/**
 * Drafts: what was typed and not yet thrown away, kept in this browser, one per exercise.
 *
 * Several tabs of the browser may hold the same exercise. Each remembers the stored text it has
 * seen last. A tab without unsaved changes takes over what another has stored; a tab with some
 * stores its own, and what it overwrites becomes the "previous draft" that can be brought back.
 */

import { sameFiles } from "../parts/files";

export interface Draft {
  files: Record<string, string>;
  scratch: string;
  /** The version of the exercise it was written for. */
  version: string;
  /** Milliseconds since the epoch. */
  savedAtMs: number;
}

/** What a draft is about, before it is kept. */
export type Texts = Pick<Draft, "files" | "scratch">;

/** "full": the browser's storage is. "closed": the browser keeps nothing for this page. */
export type Kept = { kind: "saved"; atMs: number } | { kind: "full" } | { kind: "closed" };

/** The part of `Storage` that drafts need. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const DRAFT = "judge:draft:";
const PREVIOUS = "judge:previous-draft:";

/** The browser's storage; null where it is refused, in a private window, say. */
function browserStore(): Store | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** The draft of an exercise, unless nothing was typed that differs from the starter. */
export function draftOf(slug: string, store = browserStore()): Draft | null {
  return store === null ? null : read(store.getItem(DRAFT + slug));
}

function read(stored: string | null): Draft | null {
  if (stored === null) return null;
  try {
    const value: unknown = JSON.parse(stored);
    return isDraft(value) ? value : null;
  } catch {
    return null;
  }
}

// Older pages wrote it, and anybody may: what is not a draft is as good as none.
function isDraft(value: unknown): value is Draft {
  if (typeof value !== "object" || value === null) return false;
  const { files, scratch, version, savedAtMs } = value as Record<keyof Draft, unknown>;
  return (
    typeof files === "object" &&
    files !== null &&
    Object.values(files).every((text) => typeof text === "string") &&
    typeof scratch === "string" &&
    typeof version === "string" &&
    typeof savedAtMs === "number"
  );
}

const sameTexts = (one: Texts, other: Texts): boolean =>
  one.scratch === other.scratch && sameFiles(one.files, other.files);

/** One exercise's draft, as one tab of the browser keeps it. */
export class DraftKeeper {
  readonly #store: Store | null;
  readonly #slug: string;
  readonly #version: string;
  readonly #nowMs: () => number;
  /** The stored text as this tab has read or written it last. */
  #seen: string | null = null;
  #unsaved = false;

  constructor(slug: string, version: string, store = browserStore(), nowMs = Date.now) {
    this.#slug = slug;
    this.#version = version;
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** The draft to begin with. */
  load(): Draft | null {
    this.#seen = this.#stored();
    return read(this.#seen);
  }

  /** Something was typed. */
  changed(): void {
    this.#unsaved = true;
  }

  /** Keep `texts`, null when they are the starter's; null is returned when nothing had changed. */
  save(texts: Texts | null): Kept | null {
    if (!this.#unsaved) return null;
    const store = this.#store;
    if (store === null) return { kind: "closed" };
    const atMs = this.#nowMs();
    try {
      this.#rescue(store, texts);
      this.#write(store, texts === null ? null : this.#draft(texts, atMs));
    } catch {
      // The one thing that writing to an open storage can fail by is its size.
      return { kind: "full" };
    }
    this.#unsaved = false;
    return { kind: "saved", atMs };
  }

  /** What another tab has kept since, when nothing here is newer; its draft is null for a reset. */
  takeOver(): { draft: Draft | null } | null {
    const stored = this.#stored();
    if (this.#unsaved || stored === this.#seen) return null;
    this.#seen = stored;
    return { draft: read(stored) };
  }

  /** What was overwritten while two tabs changed the exercise. */
  previous(): Draft | null {
    return this.#store === null ? null : read(this.#store.getItem(PREVIOUS + this.#slug));
  }

  /** Put `texts` where the previous draft is; null forgets it. */
  setPrevious(texts: Texts | null): void {
    const store = this.#store;
    if (store === null) return;
    if (texts === null) store.removeItem(PREVIOUS + this.#slug);
    else this.#writePrevious(store, texts);
  }

  /** Whether a storage event's key is of this exercise; null is a storage that was emptied. */
  concerns(key: string | null): boolean {
    return key === null || key === DRAFT + this.#slug || key === PREVIOUS + this.#slug;
  }

  #stored(): string | null {
    return this.#store === null ? null : this.#store.getItem(DRAFT + this.#slug);
  }

  #rescue(store: Store, texts: Texts | null): void {
    const stored = this.#stored();
    if (stored === this.#seen) return;
    const other = read(stored);
    if (other === null || (texts !== null && sameTexts(other, texts))) return;
    store.setItem(PREVIOUS + this.#slug, JSON.stringify(other));
  }

  #write(store: Store, draft: Draft | null): void {
    const text = draft === null ? null : JSON.stringify(draft);
    if (text === null) store.removeItem(DRAFT + this.#slug);
    else store.setItem(DRAFT + this.#slug, text);
    this.#seen = text;
  }

  #writePrevious(store: Store, texts: Texts): void {
    const draft = this.#draft(texts, this.#nowMs());
    try {
      store.setItem(PREVIOUS + this.#slug, JSON.stringify(draft));
    } catch {
      // No room for a second text: the one that is shown is kept, the editor's undo has the other.
      store.removeItem(PREVIOUS + this.#slug);
    }
  }

  #draft({ files, scratch }: Texts, savedAtMs: number): Draft {
    return { files, scratch, version: this.#version, savedAtMs };
  }
}
