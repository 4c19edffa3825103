import { expect, test } from "vitest";

import { relative } from "./time";

const NOW_MS = Date.parse("2026-01-01T12:00:00Z");
const MINUTE_MS = 60_000;
const ago = (minutes: number): string => relative(NOW_MS - minutes * MINUTE_MS, NOW_MS);

test("a unit is full before the next one is used, and never more than full", () => {
  expect(ago(0.9)).toBe("just now");
  expect([ago(1), ago(59.6)]).toEqual(["1 minute ago", "59 minutes ago"]);
  expect([ago(60), ago(60 * 23.9)]).toEqual(["1 hour ago", "23 hours ago"]);
  expect([ago(60 * 24), ago(60 * 24 * 6.9)]).toEqual(["yesterday", "6 days ago"]);
});
