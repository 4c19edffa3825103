import { expect, test } from "vitest";

import type { JudgingView, Phase, TierView } from "../judging/view";
import { resultState } from "./resultState";

function view(phase: Phase, verdict: JudgingView["verdict"] = null): JudgingView {
  const parts = { phase, verdict, kind: "submit", files: {}, tiers: [] };
  return parts as unknown as JudgingView;
}

function tier(id: string, verdict: TierView["verdict"]): TierView {
  const state = { phase: "finished", verdict, passed: 0, total: 0, checks: [] } as const;
  return { id, title: "", advisory: false, ...state, checks: [] };
}

test("there is no state before anything was sent", () => {
  expect(resultState(null)).toBeNull();
});

test("each phase on the way has words of its own", () => {
  const phases: Phase[] = ["opening", "sending", "unsent", "refused", "queued", "judging"];
  const words = phases.map((phase) => resultState(view(phase))?.words);
  expect(new Set(words).size).toBe(phases.length);
});

test("what the judge does not have is told as the results tell it", () => {
  const words = (id: string | null) => resultState({ ...view("refused"), id })?.words;
  expect([words(null), words("a")]).toEqual(["Not taken", "Not found"]);
});

test("a finished one is accepted, or failed at its first failing tier", () => {
  expect(resultState(view("finished", "AC"))).toEqual({
    icon: "pass",
    words: "Accepted",
    tone: "pass",
  });
  const tiers = [tier("T0", "SK"), tier("T1", "TLE"), tier("T2", "SK")];
  const late = { ...view("finished", "TLE"), tiers };
  expect(resultState(late)).toEqual({ icon: "limit", words: "Failed at T1", tone: "limit" });
});

test("one's own tests are named as such", () => {
  const tests = { kind: "tests" } as const;
  expect(resultState({ ...view("finished", "AC"), ...tests })?.words).toBe("Tests passed");
  expect(resultState({ ...view("finished", "WA"), ...tests })?.words).toBe("Tests failed");
});

test("a fault of the judge is named as ours", () => {
  expect(resultState(view("finished", "JE"))?.words).toBe("Our fault");
});
