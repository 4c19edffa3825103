import { expect, test } from "vitest";

import type { ProblemPage } from "../api/types";
import { steady } from "./steady";

const CHECK = { id: "t0::test_call", title: "It can be called.", kind: "interface", why: "" };

const page = (state: ProblemPage["preview"]["state"], checks = [CHECK], slug = "double") =>
  ({
    slug,
    preview: { state, charts: [] },
    tiers: [{ id: "T0", checks }],
  }) as unknown as ProblemPage;

test("checks and charts stay until those of the newer version have come", () => {
  const shown = steady(page("ready"), { ...page("pending", []), title: "New" });
  expect(shown.title).toBe("New");
  expect(shown.preview.state).toBe("ready");
  expect(shown.tiers[0]?.checks).toEqual([CHECK]);
});

test("what has been read is shown as it is", () => {
  expect(steady(page("ready"), page("failed", [])).tiers[0]?.checks).toEqual([]);
});

test("what is as it was is the very same object", () => {
  const before = page("ready");
  const progress = { state: "solved" as const, submissions: 1 };
  const shown = steady(before, { ...page("ready"), progress });
  expect(shown.progress).toBe(progress);
  expect(shown.preview).toBe(before.preview);
  expect(shown.tiers).toBe(before.tiers);
});

test("another exercise takes nothing over", () => {
  expect(steady(page("ready"), page("pending", [], "triple")).preview.state).toBe("pending");
});
