import { expect, test } from "vitest";

import { DraftKeeper, type Store, draftOf } from "./drafts";

/** A storage of one browser, shared by its tabs. */
class MemoryStore implements Store {
  readonly items = new Map<string, string>();
  full = false;
  getItem = (key: string) => this.items.get(key) ?? null;
  removeItem = (key: string) => {
    this.items.delete(key);
  };
  setItem = (key: string, value: string) => {
    if (this.full) throw new DOMException("no room", "QuotaExceededError");
    this.items.set(key, value);
  };
}

const texts = (solution: string) => ({ files: { "solution.py": solution }, scratch: "" });

function tabOf(store: Store, nowMs = 1000): DraftKeeper {
  const keeper = new DraftKeeper("softmax", "2", store, () => nowMs);
  keeper.load();
  return keeper;
}

function type(keeper: DraftKeeper, solution: string) {
  keeper.changed();
  return keeper.save(texts(solution));
}

test("a draft is there after a reload", () => {
  const store = new MemoryStore();
  expect(type(tabOf(store), "x = 1")).toEqual({ kind: "saved", atMs: 1000 });
  const draft = { ...texts("x = 1"), version: "2", savedAtMs: 1000 };
  expect(tabOf(store).load()).toEqual(draft);
  expect(draftOf("softmax", store)).toEqual(draft);
});

test("nothing is written when nothing was typed", () => {
  const store = new MemoryStore();
  expect(tabOf(store).save(texts("x = 1"))).toBeNull();
  expect(store.items.size).toBe(0);
});

test("the starter's own text is no draft", () => {
  const store = new MemoryStore();
  const tab = tabOf(store);
  type(tab, "x = 1");
  tab.changed();
  tab.save(null);
  expect(draftOf("softmax", store)).toBeNull();
});

test("a tab without unsaved changes takes over what another has kept", () => {
  const store = new MemoryStore();
  const [one, other] = [tabOf(store), tabOf(store)];
  type(one, "x = 1");
  expect(other.takeOver()?.draft?.files).toEqual({ "solution.py": "x = 1" });
  expect(other.takeOver()).toBeNull();
});

test("a reset in another tab is taken over as no draft", () => {
  const store = new MemoryStore();
  const one = tabOf(store);
  type(one, "x = 1");
  const other = tabOf(store);
  one.changed();
  one.save(null);
  expect(other.takeOver()).toEqual({ draft: null });
});

test("a tab with unsaved changes keeps its own, and the other text becomes the previous draft", () => {
  const store = new MemoryStore();
  const [one, other] = [tabOf(store), tabOf(store)];
  other.changed();
  type(one, "one");
  expect(other.takeOver()).toBeNull();
  other.save(texts("other"));
  expect(draftOf("softmax", store)?.files).toEqual({ "solution.py": "other" });
  expect(other.previous()?.files).toEqual({ "solution.py": "one" });
  expect(one.takeOver()?.draft?.files).toEqual({ "solution.py": "other" });
});

test("two tabs that come to the same text do not differ", () => {
  const store = new MemoryStore();
  const [one, other] = [tabOf(store), tabOf(store, 2000)];
  type(one, "same");
  type(other, "same");
  expect(other.previous()).toBeNull();
});

test("going on in one tab makes no previous draft", () => {
  const store = new MemoryStore();
  const tab = tabOf(store);
  type(tab, "x");
  type(tab, "xy");
  expect(tab.previous()).toBeNull();
});

test("a full storage is said, and the change is kept once there is room", () => {
  const store = new MemoryStore();
  const tab = tabOf(store);
  store.full = true;
  expect(type(tab, "x = 1")).toEqual({ kind: "full" });
  store.full = false;
  expect(tab.save(texts("x = 1"))).toEqual({ kind: "saved", atMs: 1000 });
});

test("nothing of another tab is overwritten when there is no room to keep it", () => {
  const store = new MemoryStore();
  const [one, other] = [tabOf(store), tabOf(store)];
  type(one, "one");
  store.full = true;
  expect(type(other, "other")).toEqual({ kind: "full" });
  expect(draftOf("softmax", store)?.files).toEqual({ "solution.py": "one" });
});

test("a browser without storage is said", () => {
  const keeper = new DraftKeeper("softmax", "2", null);
  expect(keeper.load()).toBeNull();
  expect(type(keeper, "x")).toEqual({ kind: "closed" });
  expect(draftOf("softmax", null)).toBeNull();
});

test.each(["", "null", "[]", "{", '{"files":{"a":1},"scratch":"","version":"","savedAtMs":1}'])(
  "what is not a draft is none: %s",
  (stored) => {
    const store = new MemoryStore();
    store.setItem("judge:draft:softmax", stored);
    expect(draftOf("softmax", store)).toBeNull();
  },
);

test("the previous draft can be replaced and forgotten", () => {
  const tab = tabOf(new MemoryStore());
  tab.setPrevious(texts("kept"));
  expect(tab.previous()?.files).toEqual({ "solution.py": "kept" });
  tab.setPrevious(null);
  expect(tab.previous()).toBeNull();
});
