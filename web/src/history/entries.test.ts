import { expect, test } from "vitest";

import type { History, HistoryEntry } from "../api/types";
import { entryWords, extended, newestAccepted, refreshed } from "./entries";

const entry = (id: string, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  id,
  problem: "attention",
  problem_version: "1",
  kind: "submit",
  state: "finished",
  verdict: "WA",
  score: 0.5,
  failed_tier: "T1",
  judged_ms: 80,
  created_at: "2026-01-01T12:00:00Z",
  judgings: 1,
  ...more,
});

/** A part of history with an entry for every letter. */
const part = (ids: string, next: string | null): History => ({
  submissions: Array.from(ids, (id) => entry(id)),
  next,
});
const idsOf = (history: History) => history.submissions.map(({ id }) => id).join("");

test("reading again keeps what was loaded further down", () => {
  const again = refreshed(part("dcba", null), part("ed", "d"));
  expect(idsOf(again)).toBe("edcba");
  expect(again.next).toBeNull();
});

test("reading again drops what may have a gap before it", () => {
  const again = refreshed(part("ba", null), part("fe", "e"));
  expect(idsOf(again)).toBe("fe");
  expect(again.next).toBe("e");
});

test("reading again takes the newer state of an entry", () => {
  const before = { submissions: [entry("a", { state: "queued", verdict: null })], next: null };
  expect(refreshed(before, part("a", null)).submissions[0]?.verdict).toBe("WA");
  expect(refreshed(null, part("a", null))).toEqual(part("a", null));
});

test("the next part follows, without what is there already", () => {
  const history = extended(part("dc", "c"), part("cb", "b"));
  expect(idsOf(history)).toBe("dcb");
  expect(history.next).toBe("b");
});

test("the newest accepted submission is found", () => {
  const history = {
    submissions: [
      entry("d"),
      entry("c", { verdict: "AC", kind: "tests" }),
      entry("b", { verdict: "AC" }),
      entry("a", { verdict: "AC" }),
    ],
    next: null,
  };
  expect(newestAccepted(history)?.id).toBe("b");
  expect(newestAccepted(part("a", null))).toBeNull();
});

test("an entry says how it ended, and where", () => {
  const named = { id: "T1", title: "Oracle", about: "", requires: [], checks: [] };
  const tier = { ...named, visible: true, advisory: false };
  expect(entryWords(entry("a"), [tier])).toEqual({
    icon: "fail",
    tone: "fail",
    words: "Wrong answer",
    code: "WA",
    tier: "at T1 Oracle",
  });
  expect(entryWords(entry("a", { failed_tier: "T9" }), [tier]).tier).toBe("at T9");
  expect(entryWords(entry("a", { state: "judging", verdict: null }), [tier]).words).toBe("Judging");
});
