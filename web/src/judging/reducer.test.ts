import { describe, expect, test } from "vitest";

import type { Chart, CheckResult, Mutation, Result, StreamEvent, Verdict } from "../api/types";
import { type Action, type Plan, reduce } from "./reducer";
import { isExample, type JudgingView } from "./view";

const LIMITS = {
  wall_s: 10,
  cpu_s: 30,
  memory_bytes: 2 ** 29,
  output_bytes: 2 ** 20,
  source_bytes: 2 ** 16,
};

const card = (id: string) => ({ id, title: "", kind: "oracle", why: "" });

const PLAN: Plan = {
  slug: "softmax",
  examples: [],
  tiers: [
    {
      id: "T0",
      title: "Interface",
      about: "",
      requires: [],
      visible: true,
      advisory: false,
      checks: [card("t0::test_name"), card("t0::test_pair")],
    },
    {
      id: "T1",
      title: "Oracle",
      about: "",
      requires: ["T0"],
      visible: ["test_sizes"],
      advisory: false,
      checks: [card("t1::test_sizes[1]"), card("t1::test_sizes[2]"), card("t1::test_large")],
    },
    {
      id: "T2",
      title: "Edges",
      about: "",
      requires: ["T0"],
      visible: false,
      advisory: false,
      checks: [card("t2::test_one")],
    },
  ],
};

const check = (id: string, verdict: Verdict = "AC"): CheckResult => ({
  id,
  title: "It holds.",
  kind: "oracle",
  why: "Because.",
  verdict,
  message: "",
  wall_ms: 1,
});

const chart = (id: string, title = ""): Chart => ({
  id,
  tier: "T1",
  title,
  source: "submission",
  spec: {},
  table: [],
});

const finished = (verdict: Verdict, score = 1): StreamEvent => ({
  type: "finished",
  verdict,
  score,
  diagnosis: [],
  mutation: null,
  output: { text: "hello", truncated: false },
  spans: {},
});

const MUTATION: Mutation = {
  score: 0.5,
  threshold: 0.8,
  tests: ["tests/test_own.py::test_sum"],
  mutants: ["s01", "s02"],
  matrix: [[true, false]],
  survivors: ["s02"],
  must_kill: [],
  symptoms: {},
  titles: {},
  flaky: [],
};

const events = (...list: StreamEvent[]): Action[] =>
  list.map((event) => ({ type: "event", event }));

const sending: Action = {
  type: "sending",
  plan: PLAN,
  kind: "submit",
  files: { "solution.py": "pass" },
};
const accepted: Action = { type: "accepted", id: "a" };

function after(...actions: Action[]): JudgingView {
  const view = actions.reduce<JudgingView | null>(reduce, null);
  if (!view) throw new Error("there is no view");
  return view;
}

const tier = (view: JudgingView, id: string) => {
  const found = view.tiers.find((each) => each.id === id);
  if (!found) throw new Error(`there is no tier ${id}`);
  return found;
};

const checked = (id: string, verdict?: Verdict): StreamEvent => ({
  type: "check_finished",
  tier: id.slice(0, 2).toUpperCase(),
  check: check(id, verdict),
});

const result = (parts: Partial<Result>): Result => ({
  id: "a",
  problem: "softmax",
  problem_version: "1",
  kind: "submit",
  state: "finished",
  verdict: "AC",
  score: 1,
  tiers: [],
  charts: [],
  diagnosis: [],
  output: { text: "", truncated: false },
  seed: 7,
  limits: LIMITS,
  timing: { queued_ms: 1, judged_ms: 340, spans: {} },
  environment: { sandbox: "docker", image: "i", torch: "2", numpy: "2" },
  ...parts,
});

describe("before the first event", () => {
  test("a submission has all tiers with their counts, waiting", () => {
    const view = after(sending);
    expect(view.phase).toBe("sending");
    expect(view.tiers.map(({ id, title, phase, total }) => [id, title, phase, total])).toEqual([
      ["T0", "Interface", "waiting", 2],
      ["T1", "Oracle", "waiting", 3],
      ["T2", "Edges", "waiting", 1],
    ]);
  });

  test("a run counts the visible checks only, each case of one", () => {
    const view = after({ ...sending, kind: "run" });
    expect(view.tiers.map((each) => each.total)).toEqual([2, 2, 0]);
  });

  test("a run of an exercise whose checks nobody has read counts the names", () => {
    const plan = { ...PLAN, tiers: PLAN.tiers.map((each) => ({ ...each, checks: [] })) };
    const view = after({ ...sending, plan, kind: "run" });
    expect(view.tiers.map((each) => each.total)).toEqual([0, 1, 0]);
  });

  test("a run is of an example when that is its scratch file", () => {
    const example = { title: "", code: "print(1)", output: "1", reasoning_html: "" };
    const plan = { ...PLAN, examples: [example] };
    const run = (code: string) =>
      isExample(after({ ...sending, plan, kind: "run", files: { "scratch.py": code } }));
    expect([run("print(1)"), run("print(2)")]).toEqual([true, false]);
  });

  test("a scratch run has no tiers", () => {
    expect(after({ ...sending, kind: "run", files: { "scratch.py": "" } }).tiers).toEqual([]);
  });

  test("nothing but a submission begins a view", () => {
    expect(reduce(null, accepted)).toBeNull();
    expect(reduce(null, { type: "event", event: finished("AC") })).toBeNull();
  });

  test("an event before the judge has accepted counts for nothing", () => {
    expect(after(sending, ...events({ type: "started" })).phase).toBe("sending");
  });
});

describe("sending", () => {
  const refusal = { sentence: "Nobody answers.", retryAtMs: 5 };

  test("accepted is queued under its id", () => {
    expect(after(sending, accepted)).toMatchObject({ phase: "queued", id: "a" });
  });

  test("accepted a second time changes nothing", () => {
    const view = after(sending, accepted, ...events({ type: "started" }));
    expect(reduce(view, { type: "accepted", id: "b" })).toBe(view);
  });

  test("unsent says why and is queued once it is sent", () => {
    const view = after(sending, { type: "unsent", refusal });
    expect(view).toMatchObject({ phase: "unsent", refusal });
    expect(reduce(view, accepted)).toMatchObject({ phase: "queued", refusal: null });
  });

  test("refused keeps what was sent and when to press again", () => {
    const view = after(sending, { type: "refused", refusal });
    expect(view).toMatchObject({ phase: "refused", refusal, files: { "solution.py": "pass" } });
  });

  test("a new press replaces everything", () => {
    const view = after(sending, accepted, ...events(checked("t0::test_name"), finished("AC")), {
      ...sending,
      kind: "run",
    });
    expect(view).toMatchObject({ id: null, kind: "run", phase: "sending", verdict: null });
    expect(tier(view, "T0").checks).toEqual([]);
  });

  test("what is with the judge cannot become unsent", () => {
    const view = after(sending, accepted);
    expect(reduce(view, { type: "unsent", refusal })).toBe(view);
  });

  test("an unknown submission is said to be one, a known one is left alone", () => {
    const opening = after({ type: "opening", plan: PLAN, id: "x", kind: "submit" });
    const unknown: Action = { type: "unknown", id: "x", sentence: "There is none." };
    expect(reduce(opening, unknown)).toMatchObject({
      phase: "refused",
      refusal: { sentence: "There is none." },
    });
    const view = after(sending, accepted);
    expect(reduce(view, unknown)).toBe(view);
  });
});

describe("the queue", () => {
  const position = (ahead: number, atMs: number): Action => ({
    type: "position",
    position: { ahead },
    atMs,
  });

  test("positions say how many are ahead", () => {
    const view = after(sending, accepted, position(4, 0), position(3, 2000));
    expect(view.ahead).toBe(3);
  });

  test("the time left follows from how fast the queue moves", () => {
    expect(after(sending, accepted, position(4, 0)).wait?.leftMs).toBeNull();
    const view = after(sending, accepted, position(4, 0), position(3, 2000), position(2, 4000));
    expect(view.wait?.leftMs).toBe(6000);
  });

  test("a queue that grows is reckoned anew", () => {
    const view = after(sending, accepted, position(2, 0), position(1, 2000), position(5, 4000));
    expect(view.wait).toEqual({ firstAhead: 5, firstAtMs: 4000, leftMs: null });
  });

  test("a late position does not take judging back to the queue", () => {
    const view = after(sending, accepted, ...events({ type: "started" }), position(3, 0));
    expect(view).toMatchObject({ phase: "judging", ahead: null });
  });

  test("a late queued event does not take judging back to the queue", () => {
    const view = after(
      sending,
      accepted,
      ...events({ type: "queued", ahead: 1 }, { type: "started" }, { type: "queued", ahead: 1 }),
    );
    expect(view).toMatchObject({ phase: "judging", ahead: null });
  });
});

describe("judging", () => {
  const judged = (...list: StreamEvent[]) => after(sending, accepted, ...events(...list));

  test("a tier that starts is running, with its count unchanged", () => {
    const view = judged({ type: "started" }, { type: "tier_started", tier: "T0" });
    expect(tier(view, "T0")).toMatchObject({ phase: "running", total: 2 });
    expect(tier(view, "T1").phase).toBe("waiting");
  });

  test("checks are counted as they finish", () => {
    const view = judged(checked("t0::test_name"), checked("t0::test_pair", "WA"));
    expect(tier(view, "T0")).toMatchObject({ passed: 1, total: 2, verdict: null });
    expect(tier(view, "T0").checks.map((each) => each.verdict)).toEqual(["AC", "WA"]);
  });

  test("a check told twice is there once, with its latest verdict", () => {
    const view = judged(
      checked("t0::test_name", "WA"),
      checked("t0::test_pair"),
      checked("t0::test_name"),
    );
    expect(tier(view, "T0").checks.map((each) => [each.id, each.verdict])).toEqual([
      ["t0::test_name", "AC"],
      ["t0::test_pair", "AC"],
    ]);
    expect(tier(view, "T0").passed).toBe(2);
  });

  test("more checks than were announced raise the count", () => {
    const view = judged(checked("t2::test_one"), checked("t2::test_two"));
    expect(tier(view, "T2").total).toBe(2);
  });

  test("a finished tier has the judge's counts and verdict", () => {
    const view = judged(checked("t0::test_name"), {
      type: "tier_finished",
      tier: "T0",
      verdict: "WA",
      passed: 1,
      total: 2,
    });
    expect(tier(view, "T0")).toMatchObject({
      phase: "finished",
      verdict: "WA",
      passed: 1,
      total: 2,
    });
  });

  test("a late start or check does not reopen a finished tier", () => {
    const view = judged(
      { type: "tier_finished", tier: "T0", verdict: "AC", passed: 2, total: 2 },
      { type: "tier_started", tier: "T0" },
      checked("t0::test_name"),
    );
    expect(tier(view, "T0")).toMatchObject({ phase: "finished", verdict: "AC" });
  });

  test("checks that are not run do not make a tier run", () => {
    const view = judged(checked("t1::test_large", "SK"));
    expect(tier(view, "T1").phase).toBe("waiting");
  });

  test("a tier nobody knew comes last and moves no other", () => {
    const view = judged({ type: "tier_started", tier: "T9" });
    expect(view.tiers.map((each) => each.id)).toEqual(["T0", "T1", "T2", "T9"]);
  });

  test("a chart told twice is there once", () => {
    const view = judged(
      { type: "chart", chart: chart("c", "old") },
      { type: "chart", chart: chart("c", "new") },
    );
    expect(view.charts.map((each) => each.title)).toEqual(["new"]);
  });

  test("the whole stream told twice comes to the same", () => {
    const stream: StreamEvent[] = [
      { type: "queued", ahead: 0 },
      { type: "started" },
      { type: "tier_started", tier: "T0" },
      checked("t0::test_name"),
      checked("t0::test_pair"),
      { type: "tier_finished", tier: "T0", verdict: "AC", passed: 2, total: 2 },
      { type: "tier_started", tier: "T1" },
      checked("t1::test_large", "WA"),
    ];
    expect(judged(...stream, ...stream)).toEqual(judged(...stream));
  });
});

describe("grading one's own tests", () => {
  const grading: Action = { ...sending, kind: "tests", files: { "tests/test_own.py": "" } };
  const mutant = (id: string, ...killed_by: string[]): StreamEvent => ({
    type: "mutant_finished",
    mutant: id,
    killed_by,
    done: 1,
    total: 8,
  });
  const graded = (...list: StreamEvent[]) => after(grading, accepted, ...events(...list));

  test("there is one tier, of the tests, whatever the exercise has", () => {
    const view = after(grading);
    expect(view.tiers.map(({ id, title, total }) => [id, title, total])).toEqual([
      ["tests", "Your tests", 0],
    ]);
    expect(view).toMatchObject({ tried: null, mutation: null });
  });

  test("each mutant is counted once, however often it is told", () => {
    const view = graded(mutant("s01", "test_sum"), mutant("s02"), mutant("s01", "test_sum"));
    expect(view).toMatchObject({
      phase: "judging",
      tried: { total: 8, killed: { s01: true, s02: false } },
    });
  });

  test("a restart voids the mutants that were tried", () => {
    expect(graded(mutant("s01", "test_sum"), { type: "restarted" }).tried).toBeNull();
  });

  test("the grade comes with the end, and with the result of an earlier one", () => {
    const ended = finished("WA", 0.5);
    const told = graded({ ...ended, mutation: MUTATION } as StreamEvent);
    expect(told.mutation).toEqual(MUTATION);
    const opened = after(
      { type: "opening", plan: PLAN, id: "a", kind: "submit" },
      { type: "result", result: result({ kind: "tests", verdict: "WA", mutation: MUTATION }) },
    );
    expect(opened).toMatchObject({ kind: "tests", mutation: MUTATION });
  });
});

describe("a fault of the judge", () => {
  const lost: StreamEvent[] = [
    { type: "started" },
    checked("t0::test_name"),
    { type: "tier_finished", tier: "T0", verdict: "AC", passed: 1, total: 2 },
    { type: "chart", chart: chart("c") },
    { type: "restarted" },
  ];

  test("restarted voids what came, keeps the counts, and is counted", () => {
    const view = after(sending, accepted, ...events(...lost));
    expect(view).toMatchObject({ phase: "queued", restarts: 1, charts: [] });
    expect(view.tiers.map(({ phase, passed, total, checks }) => [phase, passed, total, checks])) //
      .toEqual([
        ["waiting", 0, 2, []],
        ["waiting", 0, 3, []],
        ["waiting", 0, 1, []],
      ]);
  });

  test("the next attempt is judged as if there had been none", () => {
    const view = after(
      sending,
      accepted,
      ...events(...lost, { type: "started" }, checked("t0::test_name", "WA")),
    );
    expect(view).toMatchObject({ phase: "judging", restarts: 1 });
    expect(tier(view, "T0").checks.map((each) => each.verdict)).toEqual(["WA"]);
  });

  test("a stream that begins anew does not count restarts twice", () => {
    const view = after(
      sending,
      accepted,
      ...events(...lost),
      { type: "connection", state: "anew" },
      ...events(...lost),
    );
    expect(view.restarts).toBe(1);
  });
});

describe("the connection", () => {
  test("is lost and found again", () => {
    const view = after(sending, accepted, { type: "connection", state: "lost" });
    expect(view.connection).toBe("lost");
    expect(reduce(view, { type: "connection", state: "open" })?.connection).toBe("open");
  });

  test("lost before the verdict is no matter after it", () => {
    const view = after(
      sending,
      accepted,
      { type: "connection", state: "lost" },
      ...events(finished("AC")),
      { type: "connection", state: "lost" },
    );
    expect(view.connection).toBe("open");
  });
});

describe("the end", () => {
  test("finished has verdict, score and output", () => {
    const view = after(sending, accepted, ...events(finished("WA", 0.5)));
    expect(view).toMatchObject({
      phase: "finished",
      verdict: "WA",
      score: 0.5,
      output: { text: "hello" },
    });
  });

  test("no event after finished changes anything", () => {
    const view = after(sending, accepted, ...events(finished("WA", 0.5)));
    const late: StreamEvent[] = [
      { type: "queued", ahead: 3 },
      { type: "started" },
      { type: "restarted" },
      checked("t0::test_name"),
      finished("AC"),
    ];
    expect(events(...late).reduce<JudgingView | null>(reduce, view)).toBe(view);
  });

  test("the final result replaces everything that events told", () => {
    const view = after(sending, accepted, ...events(checked("t0::test_name"), finished("WA", 0)), {
      type: "result",
      result: result({
        tiers: [
          {
            id: "T0",
            title: "Interface",
            verdict: "AC",
            passed: 1,
            total: 1,
            checks: [check("t0::test_other")],
            advisory: true,
          },
        ],
        charts: [chart("c")],
      }),
    });
    expect(view).toMatchObject({
      phase: "finished",
      verdict: "AC",
      score: 1,
      seed: 7,
      limits: LIMITS,
      judgedMs: 340,
      environment: { sandbox: "docker" },
      files: { "solution.py": "pass" },
    });
    expect(view.tiers.map((each) => [each.id, each.phase, each.checks[0]?.id])).toEqual([
      ["T0", "finished", "t0::test_other"],
    ]);
  });

  test("the result of another submission is none of ours", () => {
    const view = after(sending, accepted);
    expect(reduce(view, { type: "result", result: result({ id: "b" }) })).toBe(view);
  });

  test("a late account of the judging does not undo the verdict", () => {
    const view = after(sending, accepted, ...events(finished("AC")));
    const late = result({ state: "judging", verdict: null });
    expect(reduce(view, { type: "result", result: late })).toBe(view);
  });
});

describe("opening an earlier submission", () => {
  const opening: Action = { type: "opening", plan: PLAN, id: "a", kind: "submit" };

  test("has the tiers of the page until the judge has answered", () => {
    const view = after(opening);
    expect(view.phase).toBe("opening");
    expect(view.tiers).toHaveLength(3);
  });

  test("is shown with its own text", () => {
    const view = after(
      opening,
      { type: "files", id: "a", files: { "solution.py": "1" } },
      { type: "result", result: result({ verdict: "WA" }) },
    );
    expect(view).toMatchObject({
      phase: "finished",
      verdict: "WA",
      files: { "solution.py": "1" },
    });
  });

  test("the text of another submission is not taken", () => {
    expect(after(opening, { type: "files", id: "b", files: { x: "" } }).files).toEqual({});
  });

  test("one that is still judged shows what is known, with the counts of a run", () => {
    const tiers = [
      { id: "T0", title: "Interface", verdict: "AC" as const, passed: 2, total: 2, checks: [] },
      {
        id: "T1",
        title: "Oracle",
        verdict: null,
        passed: 0,
        total: 3,
        checks: [check("t1::test_sizes[1]", "WA")],
      },
      { id: "T2", title: "Edges", verdict: null, passed: 0, total: 1, checks: [] },
    ].map((tier) => ({ ...tier, advisory: false }));
    const view = after({ ...sending, kind: "run" }, accepted, {
      type: "result",
      result: result({ kind: "run", state: "judging", verdict: null, tiers }),
    });
    expect(view).toMatchObject({ phase: "judging", verdict: null, seed: null });
    expect(view.tiers.map((each) => [each.phase, each.total])).toEqual([
      ["finished", 2],
      ["running", 2],
      ["waiting", 0],
    ]);
  });
});
