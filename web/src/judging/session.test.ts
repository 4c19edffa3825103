import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Listener } from "../api/events";
import { Refused, Unreachable } from "../api/http";
import type { AcceptedSubmission, Result, StreamEvent } from "../api/types";
import { Session } from "./judging";
import { type Keeper, Memory, UNSENT_KEPT_MS } from "./memory";
import type { Ports } from "./ports";
import type { Plan } from "./reducer";

// The module that talks HTTP asks where the page came from as it is loaded.
vi.hoisted(() => {
  vi.stubGlobal("location", { origin: "http://judge" });
});

const PLAN: Plan = { slug: "softmax", tiers: [], examples: [] };
const FILES = { "solution.py": "pass" };
const FINISHED: StreamEvent = {
  type: "finished",
  verdict: "AC",
  score: 1,
  diagnosis: [],
  mutation: null,
  output: { text: "", truncated: false },
  spans: {},
};

const result = (id: string, state: Result["state"], kind: Result["kind"] = "submit"): Result => ({
  id,
  problem: "softmax",
  problem_version: "1",
  kind,
  state,
  verdict: state === "finished" ? "AC" : null,
  score: 1,
  tiers: [],
  charts: [],
  diagnosis: [],
  output: { text: "", truncated: false },
  seed: 7,
  limits: { wall_s: 1, cpu_s: 1, memory_bytes: 1, output_bytes: 1, source_bytes: 1 },
  timing: { queued_ms: 0, judged_ms: 5, spans: {} },
  environment: { sandbox: "", image: "", torch: "", numpy: "" },
});

const refused = (kind: string, status: number, retry_after_s: number | null = null) =>
  new Refused({
    type: `urn:judge:${kind}`,
    title: "",
    status,
    detail: "The judge says no.",
    retry_after_s,
  });

function keeper(): Keeper {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size;
    },
  };
}

/** A judge and a browser, as far as a session sees them. */
class World {
  online = true;
  answers: (AcceptedSubmission | Error)[] = [];
  results = new Map<string, Result | Error>();
  keys: string[] = [];
  sent: string[] = [];
  onReference: boolean[] = [];
  streams: { id: string; listener: Listener; isOpen: boolean }[] = [];
  readonly lasting = keeper();
  readonly session = keeper();
  #onOnline = new Set<() => void>();
  #nextKey = 0;

  readonly ports: Ports = {
    submit: (request, key) => {
      this.keys.push(key);
      this.sent.push(request.files["solution.py"] ?? "");
      this.onReference.push(request.ref_deps);
      const answer = this.answers.shift() ?? new Unreachable("nobody");
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    getSubmission: (id) => {
      const found = this.results.get(id) ?? new Unreachable("nobody");
      return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
    },
    getFiles: () => Promise.resolve(FILES),
    listen: (id, listener) => {
      const stream = { id, listener, isOpen: true };
      this.streams.push(stream);
      return () => {
        stream.isOpen = false;
      };
    },
    isOnline: () => this.online,
    onOnline: (listener) => {
      this.#onOnline.add(listener);
      return () => this.#onOnline.delete(listener);
    },
    lasting: () => this.lasting,
    session: () => this.session,
    nowMs: () => Date.now(),
    newKey: () => `key-${++this.#nextKey}`,
  };

  accepts(id: string): void {
    this.answers.push({
      id,
      problem: "softmax",
      kind: "submit",
      state: "queued",
      url: "",
      events: "",
    });
  }

  comesOnline(): void {
    this.online = true;
    for (const listener of this.#onOnline) listener();
  }

  /** The page is loaded. */
  visit(): Session {
    const session = new Session("softmax", () => PLAN, this.ports);
    session.begin();
    return session;
  }

  get stream() {
    const stream = this.streams.at(-1);
    if (!stream) throw new Error("nobody listens");
    return stream;
  }
}

let world: World;

beforeEach(() => {
  vi.useFakeTimers();
  world = new World();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Let what was promised happen. */
const settle = () => vi.advanceTimersByTimeAsync(0);

async function judged(session: Session, id: string): Promise<void> {
  world.results.set(id, result(id, "finished"));
  world.stream.listener.onEvent(FINISHED);
  await settle();
  expect(session.view.value?.phase).toBe("finished");
}

test("a submission is sent, followed to its verdict, and read once more", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("submit", FILES);
  expect(session.view.value?.phase).toBe("sending");
  expect(session.busy.value).toBe(true);
  await settle();
  expect(session.view.value).toMatchObject({ phase: "queued", id: "a" });
  await judged(session, "a");
  expect(session.view.value).toMatchObject({ seed: 7, judgedMs: 5, files: FILES });
  expect(session.busy.value).toBe(false);
  expect(session.finished.value).toBe(1);
  expect(world.stream.isOpen).toBe(false);
});

test("a run that finishes is not counted", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("run", FILES);
  await settle();
  world.results.set("a", result("a", "finished", "run"));
  world.stream.listener.onEvent(FINISHED);
  await settle();
  expect(session.finished.value).toBe(0);
});

test("every press has a key of its own, every retry the key of its press", async () => {
  const session = world.visit();
  world.answers.push(new Unreachable("the answer was lost"));
  session.send("submit", FILES);
  await settle();
  expect(session.view.value).toMatchObject({ phase: "unsent" });
  expect(session.busy.value).toBe(false);
  world.accepts("a");
  await vi.advanceTimersByTimeAsync(1000);
  expect(session.view.value).toMatchObject({ phase: "queued", id: "a" });
  await judged(session, "a");
  world.accepts("b");
  session.send("submit", FILES);
  await settle();
  expect(world.keys).toEqual(["key-1", "key-1", "key-2"]);
});

test("what a submission is judged on top of is sent, and sent again", async () => {
  const session = world.visit();
  session.send("submit", FILES, true);
  await settle();
  world.visit();
  await settle();
  expect(world.onReference).toEqual([true, true]);
  session.send("submit", FILES);
  await settle();
  expect(world.onReference.at(-1)).toBe(false);
  expect(new Set(world.keys).size).toBe(2);
});

test("a need that is not met is said in the words of the page", async () => {
  const session = world.visit();
  world.answers.push(refused("needs-unmet", 409));
  session.send("submit", FILES);
  await settle();
  expect(session.view.value?.phase).toBe("refused");
  expect(session.view.value?.refusal?.sentence).toContain("Judge on top of the reference");
});

test("attempts come later and later", async () => {
  const session = world.visit();
  session.send("submit", FILES);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.keys.length).toBeGreaterThan(4);
  expect(world.keys.length).toBeLessThan(9);
});

test("offline says so, and sends when the network is back", async () => {
  world.online = false;
  const session = world.visit();
  session.send("submit", FILES);
  await settle();
  expect(session.view.value?.refusal).toMatchObject({ retryAtMs: null });
  expect(session.view.value?.refusal?.sentence).toContain("no network");
  world.accepts("a");
  world.comesOnline();
  await settle();
  expect(session.view.value).toMatchObject({ phase: "queued", id: "a" });
});

test("a database that is away is tried again when it says", async () => {
  const session = world.visit();
  world.answers.push(refused("database-away", 503, 2));
  world.accepts("a");
  session.send("submit", FILES);
  await settle();
  expect(session.view.value?.phase).toBe("unsent");
  await vi.advanceTimersByTimeAsync(2000);
  expect(session.view.value?.id).toBe("a");
});

test("pressing again with the same text is the same submission, with another a new one", async () => {
  const session = world.visit();
  session.send("submit", FILES);
  await settle();
  session.send("submit", { ...FILES });
  await settle();
  session.send("submit", { "solution.py": "return" });
  await settle();
  expect(world.keys).toEqual(["key-1", "key-1", "key-2"]);
  expect(world.sent).toEqual(["pass", "pass", "return"]);
});

test("an unsent submission survives a reload with its key", async () => {
  const session = world.visit();
  session.send("submit", FILES);
  await settle();
  session.end();
  world.accepts("a");
  const reloaded = world.visit();
  expect(reloaded.view.value).toMatchObject({ phase: "sending", files: FILES });
  await settle();
  expect(reloaded.view.value?.id).toBe("a");
  expect(world.keys).toEqual(["key-1", "key-1"]);
  expect(world.lasting.length).toBe(0);
});

test("a page that was left while a submission was opened listens to nothing", async () => {
  world.results.set("a", result("a", "judging"));
  const session = world.visit();
  session.open("a");
  session.end();
  await settle();
  expect(world.streams).toEqual([]);
});

test("a page that was left sends no more", async () => {
  const session = world.visit();
  session.send("submit", FILES);
  await settle();
  session.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.keys).toHaveLength(1);
});

test("too many requests says when to press again, and does not press by itself", async () => {
  const session = world.visit();
  world.answers.push(refused("quota", 429, 40));
  session.send("submit", FILES);
  await settle();
  expect(session.view.value).toMatchObject({
    phase: "refused",
    refusal: { sentence: "The judge says no.", retryAtMs: Date.now() + 40_000 },
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(world.keys).toHaveLength(1);
  expect(world.lasting.length).toBe(0);
});

test("a reload in the middle goes on with the newest submission", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("submit", FILES);
  await settle();
  session.end();
  world.results.set("a", result("a", "judging"));
  const reloaded = world.visit();
  expect(reloaded.view.value).toMatchObject({ phase: "opening", id: "a" });
  await settle();
  expect(reloaded.view.value).toMatchObject({ phase: "judging", files: FILES });
  await judged(reloaded, "a");
  expect(reloaded.finished.value).toBe(1);
});

test("a run that is resumed is known to be a run before the judge has answered", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("run", FILES);
  await settle();
  session.end();
  expect(world.visit().view.value).toMatchObject({ phase: "opening", kind: "run" });
});

test("a remembered submission that is gone is forgotten without a word", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("run", FILES);
  await settle();
  session.end();
  world.results.set("a", refused("unknown-submission", 404));
  const later = world.visit();
  await settle();
  expect(later.view.value).toBeNull();
  expect(world.session.length).toBe(0);
});

test("another submission that is gone is said to be", async () => {
  const session = world.visit();
  world.results.set("x", refused("unknown-submission", 404));
  session.open("x");
  await settle();
  expect(session.view.value?.phase).toBe("refused");
  expect(session.view.value?.refusal?.sentence).toContain("no such submission");
});

test("an opened submission is shown and not counted", async () => {
  const session = world.visit();
  world.results.set("x", result("x", "finished"));
  session.open("x");
  await settle();
  expect(session.view.value).toMatchObject({ phase: "finished", id: "x" });
  expect(session.finished.value).toBe(0);
  expect(world.streams).toHaveLength(0);
});

test("opening what is shown already changes nothing", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("submit", FILES);
  await settle();
  const view = session.view.value;
  session.open("a");
  expect(session.view.value).toBe(view);
  expect(world.stream.isOpen).toBe(true);
});

test("the answer to a press is shown whatever was opened meanwhile", async () => {
  const session = world.visit();
  session.send("submit", FILES);
  await settle();
  world.results.set("x", result("x", "finished"));
  session.open("x");
  await settle();
  expect(session.view.value?.id).toBe("x");
  world.accepts("a");
  await vi.advanceTimersByTimeAsync(2000);
  expect(session.view.value).toMatchObject({ id: "a", phase: "queued", files: FILES });
});

test("a stream the browser gave up is asked about and opened again", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("submit", FILES);
  await settle();
  world.results.set("a", result("a", "judging"));
  world.stream.listener.onConnection("closed");
  expect(session.view.value?.connection).toBe("lost");
  await vi.advanceTimersByTimeAsync(2000);
  expect(world.streams).toHaveLength(2);
  expect(world.streams.map((each) => each.isOpen)).toEqual([false, true]);
  await judged(session, "a");
});

test("a judge that restarts is asked until it answers", async () => {
  const session = world.visit();
  world.accepts("a");
  session.send("submit", FILES);
  await settle();
  world.stream.listener.onConnection("closed");
  await vi.advanceTimersByTimeAsync(5000);
  expect(session.view.value).toMatchObject({ phase: "queued", connection: "lost" });
  world.results.set("a", result("a", "finished"));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(session.view.value).toMatchObject({ phase: "finished", verdict: "AC" });
  expect(session.finished.value).toBe(1);
});

test("two tabs send and follow each their own", async () => {
  const one = world.visit();
  const session = keeper();
  const other = new Session("softmax", () => PLAN, { ...world.ports, session: () => session });
  other.begin();
  world.accepts("a");
  world.accepts("b");
  one.send("submit", FILES);
  other.send("submit", FILES);
  await settle();
  expect([one.view.value?.id, other.view.value?.id]).toEqual(["a", "b"]);
  expect(world.session.getItem("judge:newest:softmax")).toContain('"a"');
  expect(session.getItem("judge:newest:softmax")).toContain('"b"');
});

test("a browser that keeps nothing still submits", async () => {
  const forbidden = () => {
    throw new Error("storage is forbidden");
  };
  const ports = { ...world.ports, lasting: forbidden, session: forbidden };
  const session = new Session("softmax", () => PLAN, ports);
  session.begin();
  world.accepts("a");
  session.send("submit", FILES);
  await settle();
  expect(session.view.value?.id).toBe("a");
});

test("what was pressed last is resumed, for a day", () => {
  const memory = new Memory("softmax", world.ports.lasting, world.ports.session);
  memory.keep({ key: "1", kind: "submit", files: FILES, refDeps: false, atMs: 1000 });
  memory.keep({ key: "2", kind: "run", files: FILES, refDeps: false, atMs: 2000 });
  new Memory("other", world.ports.lasting, world.ports.session) //
    .keep({ key: "3", kind: "run", files: FILES, refDeps: false, atMs: 3000 });
  expect(memory.unsent(2000)?.key).toBe("2");
  expect(memory.unsent(2000 + UNSENT_KEPT_MS)?.key).toBe("2");
  expect(memory.unsent(2001 + UNSENT_KEPT_MS)).toBeNull();
  expect(world.lasting.length).toBe(1);
});

test("what is no unsent submission is not taken for one", () => {
  world.lasting.setItem("judge:unsent:softmax:1", "{");
  world.lasting.setItem("judge:unsent:softmax:2", '{"key":"2"}');
  const memory = new Memory("softmax", world.ports.lasting, world.ports.session);
  expect(memory.unsent(0)).toBeNull();
});
