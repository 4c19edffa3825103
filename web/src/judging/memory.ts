/**
 * What survives a reload: a submission that the judge has not taken yet, and which one was newest.
 *
 * The unsent submission lies in the browser's lasting storage, with the key under which the judge
 * will know it: sent a second time it is the same submission. Several tabs may have one each of the
 * same exercise, so each has an entry of its own. The newest submission is the tab's own matter and
 * lies in its session. A browser may refuse to keep anything; then nothing is remembered, and
 * everything else works.
 */
import type { Kind } from "../api/types";

export interface Unsent {
  key: string;
  kind: Kind;
  files: Record<string, string>;
  /** Whether to judge on top of the reference of what the exercise builds on. */
  refDeps: boolean;
  atMs: number;
}

export interface Newest {
  id: string;
  kind: Kind;
}

export type Keeper = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Nobody waits longer than a day for an answer; the draft is kept elsewhere. */
export const UNSENT_KEPT_MS = 24 * 3600 * 1000;

export class Memory {
  readonly #unsent: string;
  readonly #newest: string;
  readonly #lasting: () => Keeper;
  readonly #session: () => Keeper;

  /** The storages come as functions: where they are forbidden, asking for them already throws. */
  constructor(slug: string, lasting: () => Keeper, session: () => Keeper) {
    this.#unsent = `judge:unsent:${slug}:`;
    this.#newest = `judge:newest:${slug}`;
    this.#lasting = lasting;
    this.#session = session;
  }

  keep(unsent: Unsent): void {
    attempt(() => {
      this.#lasting().setItem(this.#unsent + unsent.key, JSON.stringify(unsent));
    });
  }

  drop(key: string): void {
    attempt(() => {
      this.#lasting().removeItem(this.#unsent + key);
    });
  }

  /**
   * The submission that was pressed last and never taken, unless it is too old. Earlier ones are
   * dropped: whoever pressed again meant the later one.
   */
  unsent(nowMs: number): Unsent | null {
    const kept = attempt(() => this.#all()) ?? [];
    const [newest, ...earlier] = kept.sort((one, other) => other.atMs - one.atMs);
    for (const each of earlier) this.drop(each.key);
    if (!newest || nowMs - newest.atMs <= UNSENT_KEPT_MS) return newest ?? null;
    this.drop(newest.key);
    return null;
  }

  get newest(): Newest | null {
    const value = parsed(attempt(() => this.#session().getItem(this.#newest)) ?? null);
    return isNewest(value) ? value : null;
  }

  set newest(newest: Newest | null) {
    attempt(() => {
      if (newest === null) this.#session().removeItem(this.#newest);
      else this.#session().setItem(this.#newest, JSON.stringify(newest));
    });
  }

  #all(): Unsent[] {
    const storage = this.#lasting();
    const names = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
    return names
      .filter((name) => name.startsWith(this.#unsent))
      .map((name) => parsed(storage.getItem(name)))
      .filter(isUnsent);
  }
}

const parsed = (text: string | null): unknown => attempt<unknown>(() => JSON.parse(text ?? ""));

function isUnsent(value: unknown): value is Unsent {
  return (
    typeof value === "object" &&
    value !== null &&
    "key" in value &&
    typeof value.key === "string" &&
    "atMs" in value &&
    typeof value.atMs === "number" &&
    "kind" in value &&
    "files" in value &&
    typeof value.files === "object" &&
    "refDeps" in value &&
    typeof value.refDeps === "boolean"
  );
}

function isNewest(value: unknown): value is Newest {
  return (
    typeof value === "object" &&
    value !== null &&
    "id" in value &&
    typeof value.id === "string" &&
    "kind" in value
  );
}

/** What `action` comes to; undefined where the browser keeps nothing, or is full. */
function attempt<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
