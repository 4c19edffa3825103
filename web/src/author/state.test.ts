import { expect, test } from "vitest";

import type { AuthorNews } from "../api/types";
import { shortPath, stateOf } from "./state";

const READ: AuthorNews = {
  slug: "double",
  folder: "/home/ann/problems/double",
  changes: 1,
  version: "abc",
  is_read: true,
  faults: [],
  proving: { state: "waiting", answered: 0, asked: 0, claims: 0, failed: 0, trouble: "" },
};
const FAULT = { file: "problem.toml", line: 3, message: "wrong", remedy: "correct it" };

const proving = (changed: Partial<AuthorNews["proving"]>): AuthorNews => ({
  ...READ,
  proving: { ...READ.proving, ...changed },
});

test("what an author should know first is said first", () => {
  const words = (news: AuthorNews | null, isOpen = true) => stateOf(news, isOpen).words;
  expect(words(null)).toBe("Connecting");
  expect(words(READ, false)).toBe("judge dev does not answer");
  expect(words({ ...READ, faults: [FAULT] })).toBe("1 fault");
  expect(words({ ...READ, version: null })).toBe("Reading the folder");
  expect(words({ ...READ, is_read: false })).toBe("Running the reference");
  expect(words(READ)).toBe("Proof not begun");
});

test("a proof says how far it has come, and how it ended", () => {
  const state = (changed: Partial<AuthorNews["proving"]>) => stateOf(proving(changed), true);
  expect(state({ state: "proving" }).words).toBe("Proving…");
  expect(state({ state: "proving", answered: 3, asked: 40 }).words).toBe("Proving… 3 of 40");
  expect(state({ state: "finished", claims: 9 })).toMatchObject({
    tone: "pass",
    words: "Proven: 9 claims",
  });
  expect(state({ state: "finished", claims: 9, failed: 2 })).toMatchObject({
    tone: "fail",
    words: "2 of 9 claims failed",
  });
  expect(state({ state: "stopped" }).tone).toBe("limit");
});

test("paths begin with the exercise's folder", () => {
  expect(shortPath("/home/ann/problems/double/checks/a.py", READ.folder)).toBe(
    "double/checks/a.py",
  );
  expect(shortPath("/home/ann/problems/tracks.toml", READ.folder)).toBe("tracks.toml");
  expect(shortPath("elsewhere/a.py", READ.folder)).toBe("elsewhere/a.py");
  expect(shortPath("a.py", "double")).toBe("a.py");
});
