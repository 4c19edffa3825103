import { expect, test } from "vitest";

import { spans } from "./Coded";

test("a sentence is cut at its backticks", () => {
  expect(spans("From `query @ w_q` on.")).toEqual([
    { text: "From ", code: false },
    { text: "query @ w_q", code: true },
    { text: " on.", code: false },
  ]);
  expect(spans("`a``b`")).toEqual([
    { text: "a", code: true },
    { text: "b", code: true },
  ]);
});

test("a backtick that is never closed is an ordinary character", () => {
  expect(spans("a `b` c ` d")).toEqual([
    { text: "a ", code: false },
    { text: "b", code: true },
    { text: " c ` d", code: false },
  ]);
  expect(spans("plain")).toEqual([{ text: "plain", code: false }]);
});
