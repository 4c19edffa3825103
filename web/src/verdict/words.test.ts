import { describe, expect, test } from "vitest";

import type { CheckResult, Mutation, OwnTestsCard, Progress, Verdict } from "../api/types";
import type { JudgingView, TierView } from "../judging/view";
import { aligned, alignedTogether, shortened } from "./align";
import { failingTier, firstFailing, shownTier } from "./selection";
import { afterwards, headline, limitOf, skipReason, statements, tileState } from "./words";

const LIMITS = {
  wall_s: 10,
  cpu_s: 30,
  memory_bytes: 512 * 2 ** 20,
  output_bytes: 2 ** 20,
  source_bytes: 2 ** 16,
};

const check = (id: string, verdict: Verdict): CheckResult => ({
  id,
  title: "",
  kind: "oracle",
  why: "",
  verdict,
  message: "",
  wall_ms: 0,
});

const tier = (id: string, title: string, parts: Partial<TierView> = {}): TierView => ({
  id,
  title,
  phase: "waiting",
  verdict: null,
  passed: 0,
  total: 8,
  checks: [],
  advisory: false,
  ...parts,
});

const ended = (id: string, title: string, verdict: Verdict, passed: number) =>
  tier(id, title, { phase: "finished", verdict, passed });

const view = (parts: Partial<JudgingView>): JudgingView => ({
  id: "a",
  problem: "softmax",
  kind: "submit",
  examples: [],
  files: { "solution.py": "" },
  phase: "finished",
  refusal: null,
  ahead: null,
  wait: null,
  connection: "open",
  restarts: 0,
  tiers: [],
  charts: [],
  diagnosis: [],
  tried: null,
  mutation: null,
  output: null,
  verdict: null,
  score: null,
  seed: null,
  limits: LIMITS,
  judgedMs: 340,
  problemVersion: null,
  environment: null,
  ...parts,
});

const MUTATION: Mutation = {
  score: 0.9,
  threshold: 0.8,
  tests: ["test_sum"],
  mutants: ["s01", "s02"],
  matrix: [[true, false]],
  survivors: ["s02"],
  must_kill: ["s02"],
  symptoms: {},
  titles: {},
  flaky: [],
};

const REJECTED = view({
  verdict: "WA",
  score: 0.25,
  tiers: [ended("T0", "Interface", "AC", 8), ended("T1", "Oracle", "WA", 3)],
});

describe("the headline", () => {
  test("of a rejected submission names the tier, then the verdict", () => {
    expect(headline(REJECTED)).toMatchObject({
      icon: "fail",
      title: "Rejected at T1 Oracle",
      code: "WA",
      facts: ["Wrong answer", "score 25 %", "judged in 0.34 s"],
    });
  });

  test("of an accepted one says it once", () => {
    const { title, facts } = headline(view({ verdict: "AC", score: 1 }));
    expect([title, ...facts]).toEqual(["Accepted", "score 100 %", "judged in 0.34 s"]);
  });

  test("of a run has no score", () => {
    const { title, facts } = headline(view({ kind: "run", verdict: "AC", score: 1 }));
    expect([title, ...facts]).toEqual(["All examples pass", "ran for 0.34 s"]);
  });

  test("of a run of an example does not speak of the scratch file", () => {
    const files = { "solution.py": "", "scratch.py": "print(1)" };
    const title = (examples: string[], phase: JudgingView["phase"]) =>
      headline(view({ kind: "run", verdict: "AC", phase, files, examples })).title;
    expect(title(["print(1)"], "finished")).toBe("The example ran to its end");
    expect(title(["print(1)"], "judging")).toBe("Running the example");
    expect(title(["print(2)"], "finished")).toBe("The scratch file ran to its end");
  });

  test("of a run that fails speaks of examples", () => {
    expect(headline({ ...REJECTED, kind: "run" }).title).toBe("Examples fail at T1 Oracle");
  });

  test("of what could not be loaded says whether Python could read it", () => {
    const raised = (column: number | null) => {
      const frames = [{ file: "solution.py", line: 3, function: "", text: "", column }];
      const checks = [{ ...check("a", "CE"), detail: { frames } }];
      const tiers = [tier("T0", "Interface", { phase: "finished", verdict: "CE", checks })];
      return headline(view({ verdict: "CE", score: 0, tiers })).title;
    };
    expect(raised(12)).toBe("Does not compile");
    expect(raised(null)).toBe("Cannot be imported");
  });

  test("of a broken limit tells the limit", () => {
    const tiers = [ended("T0", "Interface", "MLE", 1)];
    expect(headline(view({ verdict: "MLE", score: 0, tiers })).facts).toContain(
      "the limit is 512 MiB",
    );
  });

  test("of a fault of ours takes the blame and says what to do", () => {
    const { explanation, facts } = headline(view({ verdict: "JE", score: 0, restarts: 3 }));
    expect(explanation).toContain("our fault, not yours");
    expect(explanation).toContain("Send it again");
    expect(facts).not.toContain("score 0 %");
  });

  test("of a restart says that it is queued again", () => {
    expect(headline(view({ phase: "queued", restarts: 1 })).explanation).toBe(
      "This was our fault, not yours. It is queued again.",
    );
  });

  test("of a queued one tells place and rough time", () => {
    const wait = { firstAhead: 9, firstAtMs: 0, leftMs: 21_000 };
    expect(headline(view({ phase: "queued", ahead: 3, wait })).facts).toEqual([
      "3 to be judged before it",
      "about 20 s",
    ]);
    expect(headline(view({ phase: "queued", ahead: 0 })).facts).toEqual(["next to be judged"]);
  });

  test("leaves the judge's own count of seconds to the countdown", () => {
    const refusal = { sentence: "Thirty were made. The next is possible in 40 s.", retryAtMs: 1 };
    expect(headline(view({ phase: "refused", id: null, refusal })).explanation).toBe(
      "Thirty were made.",
    );
  });

  test("of a broken rule says so, whatever tier it was found in, and says it once", () => {
    const tiers = [ended("T0", "Interface", "RV", 0)];
    const { title, facts } = headline(view({ verdict: "RV", score: 0, tiers }));
    expect([title, ...facts]).toEqual([
      "Rejected: a rule of the exercise is broken",
      "score 0 %",
      "judged in 0.34 s",
    ]);
  });

  test("of one's own tests says what they fall short in", () => {
    const outcome = (verdict: Verdict) => ({ ...check("own::test_sum", verdict), kind: "test" });
    const grade = (parts: Partial<Mutation>, passes = true) =>
      headline(
        view({
          kind: "tests",
          verdict: "WA",
          tiers: [tier("tests", "Your tests", { checks: [outcome(passes ? "AC" : "WA")] })],
          mutation: { ...MUTATION, ...parts },
        }),
      ).title;
    expect(headline(view({ kind: "tests", verdict: "CE" })).title).toContain("cannot be run");
    expect(grade({}, false)).toBe("Rejected: a test fails on a right solution");
    expect(grade({ flaky: ["test_sum"] })).toBe("Rejected: a test is flaky");
    expect(grade({ score: 0.5 })).toBe("Rejected: too few mutants noticed");
    expect(grade({})).toBe("Rejected: a pitfall goes unnoticed");
    const accepted = view({ kind: "tests", verdict: "AC", mutation: MUTATION });
    expect(headline(accepted).title).toBe("Your tests are accepted");
  });

  test("of a scratch run speaks of the scratch file", () => {
    const files = { "scratch.py": "" };
    const { title, code, facts } = headline(view({ kind: "run", files, verdict: "AC" }));
    expect([title, code, ...facts]).toEqual(["The scratch file ran to its end", null, "in 0.34 s"]);
  });
});

describe("what follows from an accepted submission", () => {
  const OWN: OwnTestsCard = { imports: [], mutants: 9, must_kill: 2, threshold: 0.8 };
  const follows = (
    kind: JudgingView["kind"],
    own: OwnTestsCard | null,
    progress: Partial<Progress>,
    verdict: Verdict = "AC",
  ) =>
    afterwards(
      { own_tests: own, progress: { state: "failed", submissions: 1, ...progress } },
      view({ kind, verdict }),
    );

  test("is known when the exercise was read again", () => {
    expect(follows("submit", null, { state: "untouched", submissions: 0 })).toBe("unknown");
    expect(follows("submit", null, { state: "solved" })).toBe("opened");
  });

  test("is the other half where tests are taken too, until that is accepted as well", () => {
    expect(follows("submit", OWN, { tests: "untouched" })).toBe("tests");
    expect(follows("tests", OWN, { tests: "passed" })).toBe("solution");
    expect(follows("tests", OWN, { tests: "passed", state: "solved" })).toBe("opened");
  });

  test("does not deny the half that may be done already", () => {
    expect(follows("tests", OWN, { tests: "failed" })).toBe("unknown");
    expect(follows("submit", OWN, { tests: "passed" })).toBe("unknown");
  });

  test("is nothing of a run, and of what is rejected", () => {
    expect(follows("run", null, { state: "solved" })).toBeNull();
    expect(follows("submit", null, { state: "solved" }, "WA")).toBeNull();
  });
});

describe("a tile", () => {
  test("shows how many are done while it runs, and how many passed afterwards", () => {
    const checks = [check("a", "AC"), check("b", "WA")];
    const running = tier("T1", "Oracle", { phase: "running", passed: 1, checks });
    expect(tileState(running, REJECTED)).toMatchObject({ words: "running", count: "2/8" });
    expect(tileState(ended("T1", "Oracle", "WA", 3), REJECTED)).toMatchObject({
      icon: "fail",
      words: "failed",
      count: "3/8",
    });
  });

  test("of a tier that a run leaves out says so from the beginning", () => {
    const left = tier("T2", "Edges", { total: 0 });
    expect(tileState(left, view({ kind: "run" })).words).toBe("not in a run");
  });

  test("a tier that was not run says what it needs", () => {
    const skipped = ended("T1", "Oracle", "SK", 0);
    const whole = view({ tiers: [ended("T0", "Interface", "RE", 1), skipped] });
    const named = { id: "T1", title: "", about: "", requires: ["T0"], checks: [] };
    const plan = [{ ...named, visible: true, advisory: false }];
    expect(skipReason(skipped, whole, plan)).toBe("Not run. It needs T0 Interface first.");
    expect(skipReason(skipped, whole, [])).toBe("Not run. Judging ended before this tier.");
  });
});

describe("a tier that counts for nothing", () => {
  const advice = { ...ended("T4", "Cost", "WA", 0), advisory: true };
  const accepted = view({
    verdict: "AC",
    score: 1,
    tiers: [ended("T0", "Interface", "AC", 8), advice],
  });

  test("gives advice, and looks like no failure", () => {
    expect(tileState(advice, accepted)).toMatchObject({ tone: "advice", words: "advice" });
    const slow = { ...advice, verdict: "TLE" as const };
    expect(tileState(slow, accepted)).toMatchObject({ tone: "limit", words: "time limit" });
    expect(tileState({ ...advice, verdict: "AC" as const }, accepted).tone).toBe("pass");
  });

  test("leaves the submission accepted, and is told of in its headline", () => {
    const { title, tone, facts } = headline(accepted);
    expect([title, tone]).toEqual(["Accepted", "pass"]);
    expect(facts).toEqual(["score 100 %", "judged in 0.34 s", "advice in T4"]);
    expect(statements(accepted)).toContain("T4 Cost (advisory): advice, 0 of 8 checks passed.");
  });

  test("is shown where nothing that counts failed", () => {
    expect(failingTier(accepted)).toBeNull();
    expect(shownTier(accepted, null)?.id).toBe("T4");
    const rejected = view({ tiers: [advice, ended("T5", "Edges", "WA", 0)] });
    expect(shownTier(rejected, null)?.id).toBe("T5");
  });
});

describe("the tier that is shown", () => {
  const failing = tier("T1", "Oracle", {
    phase: "running",
    checks: [check("a", "AC"), check("b", "WA")],
  });
  const tiers = [tier("T0", "Interface"), failing, ended("T2", "Edges", "WA", 0)];

  test("is the first that failed, even before it has ended", () => {
    expect(shownTier(view({ tiers }), null)?.id).toBe("T1");
    expect(firstFailing(failing)?.id).toBe("b");
  });

  test("is what the student chose, if there is such a tier", () => {
    expect(shownTier(view({ tiers }), "T2")?.id).toBe("T2");
    expect(shownTier(view({ tiers }), "T9")?.id).toBe("T1");
  });

  test("stays the first while nothing has failed", () => {
    const running = [ended("T0", "Interface", "AC", 8), tier("T1", "Oracle", { phase: "running" })];
    expect(shownTier(view({ tiers: running }), null)?.id).toBe("T0");
  });
});

describe("what is said aloud", () => {
  test("grows at its end, from the queue to the verdict", () => {
    const tiers = [ended("T0", "Interface", "AC", 8), tier("T1", "Oracle", { phase: "running" })];
    const stages = [
      statements(view({ phase: "queued" })),
      statements(view({ phase: "judging", tiers })),
      statements(REJECTED),
    ];
    expect(stages[0]).toEqual(["Queued."]);
    expect(stages[1]).toEqual([
      "Queued.",
      "Judging.",
      "T0 Interface: passed, 8 of 8 checks passed.",
    ]);
    expect(stages[2]).toEqual([
      ...(stages[1] ?? []),
      "T1 Oracle: failed, 3 of 8 checks passed.",
      "Rejected at T1 Oracle. Score 25 %.",
    ]);
  });

  test("tells a fault of ours as it happens", () => {
    expect(statements(view({ phase: "queued", restarts: 1 }))).toEqual([
      "Queued.",
      "This was our fault, not yours. It is queued again.",
    ]);
  });
});

test("only a broken limit is told", () => {
  expect(limitOf("TLE", LIMITS)[0]).toContain("10 s a tier");
  expect(limitOf("OLE", LIMITS)).toEqual(["the limit is 1 MiB"]);
  expect(limitOf("WA", LIMITS)).toEqual([]);
  expect(limitOf("TLE", null)).toEqual([]);
});

describe("columns of numbers", () => {
  test("are aligned at the point", () => {
    expect(aligned(["0.5", "-12.25", "3", "1e-07", "nan"])).toEqual([
      "  0.5  ",
      "-12.25 ",
      "  3    ",
      "  1e-07",
      "nan    ",
    ]);
  });

  test("have as many digits as tell apart what differs", () => {
    const far = shortened([[["0.0604808", "1"]], [["0.0968323", "1"]]], [[true, false]]);
    expect(far).toEqual([[["0.06048", "1"]], [["0.09683", "1"]]]);
    const near = shortened([[["0.688944"]], [["0.688951"]]], [[true]]);
    expect(near).toEqual([[["0.688944"]], [["0.688951"]]]);
    const words = shortened([[["nan", "0.0699979"]], [["1.23457e-07", "0.5"]]], [[true, true]]);
    expect(words).toEqual([[["nan", "0.07000"]], [["1.235e-07", "0.5"]]]);
  });

  test("are aligned through both tables", () => {
    expect(alignedTogether([[["1.5", "a"]], [["10", "bc"]]])).toEqual([
      [[" 1.5", " a"]],
      [["10  ", "bc"]],
    ]);
  });
});
