import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { Kind, ProblemPage } from "../api/types";
import { Following } from "./following";
import { Memory, type Newest, type Unsent } from "./memory";
import { BROWSER, type Ports } from "./ports";
import { type Action, type Plan, reduce } from "./reducer";
import { Sender } from "./sending";
import type { JudgingView } from "./view";

const GONE =
  "There is no such submission. A run is kept for an hour, and a submission is shown only to " +
  "whoever sent it.";

/** Submitting and following, for one exercise: made by `useJudging`, ended with its page. */
export interface Judging {
  /** The newest submission or run of this page, or the one that was opened; null before the first. */
  view: ReadonlySignal<JudgingView | null>;
  /** Whether one is on its way. */
  busy: ReadonlySignal<boolean>;
  /** `refDeps`: judge on top of the reference of what the exercise builds on. */
  send: (kind: Kind, files: Record<string, string>, refDeps?: boolean) => void;
  /** Show an earlier submission, live if it is still being judged. */
  open: (id: string) => void;
  /** Counts finished submissions, not runs: history and progress are read again when it grows. */
  finished: ReadonlySignal<number>;
}

/** The judging of an exercise's page. It goes on with what an earlier visit of this tab began. */
export function useJudging(problem: ProblemPage): Judging {
  const plan = useRef<Plan>(problem);
  plan.current = problem;
  const slug = problem.slug;
  const session = useMemo(() => new Session(slug, () => plan.current, BROWSER), [slug]);
  // Before the page can be seen: whoever sees it may submit.
  useLayoutEffect(() => {
    session.begin();
    return () => {
      session.end();
    };
  }, [session]);
  return session;
}

export class Session implements Judging {
  readonly #view = signal<JudgingView | null>(null);
  readonly #finished = signal(0);
  readonly #slug: string;
  readonly #plan: () => Plan;
  readonly #ports: Ports;
  readonly #memory: Memory;
  #sender: Sender | null = null;
  #following: Following | null = null;

  readonly view: ReadonlySignal<JudgingView | null> = this.#view;
  readonly finished: ReadonlySignal<number> = this.#finished;
  readonly busy = computed(() => {
    const phase = this.#view.value?.phase;
    return phase === "sending" || phase === "queued" || phase === "judging";
  });

  constructor(slug: string, plan: () => Plan, ports: Ports) {
    this.#slug = slug;
    this.#plan = plan;
    this.#ports = ports;
    this.#memory = new Memory(slug, ports.lasting, ports.session);
  }

  /** Send what was not sent before, or else show what was newest in this tab. */
  begin(): void {
    this.#sender = new Sender(this.#slug, this.#ports, this.#memory, {
      onSending: (unsent) => {
        this.#show(unsent);
      },
      onAccepted: (unsent, { id }) => {
        this.#isShown(unsent);
        this.#accepted({ id, kind: unsent.kind });
      },
      onUnsent: (refusal) => {
        this.#act({ type: "unsent", refusal });
      },
      onRefused: (unsent, refusal) => {
        this.#isShown(unsent);
        this.#act({ type: "refused", refusal });
      },
    });
    const newest = this.#memory.newest;
    if (!this.#sender.resume() && newest !== null) this.open(newest.id);
  }

  readonly send = (kind: Kind, files: Record<string, string>, refDeps = false): void => {
    this.#sender?.press(kind, files, refDeps);
  };

  readonly open = (id: string): void => {
    if (this.#view.value?.id === id) return;
    const newest = this.#memory.newest;
    // Of what it remembers the tab knows the kind, of anything else the judge will tell it.
    const kind = newest?.id === id ? newest.kind : "submit";
    this.#follow(id).open();
    this.#act({ type: "opening", plan: this.#plan(), id, kind });
  };

  end(): void {
    this.#sender?.end();
    this.#following?.end();
    this.#sender = null;
    this.#following = null;
  }

  #show(unsent: Unsent): void {
    this.#following?.end();
    const { kind, files } = unsent;
    this.#act({ type: "sending", plan: this.#plan(), kind, files });
  }

  /** What was pressed last is shown when the judge answers, whatever was opened meanwhile. */
  #isShown(unsent: Unsent): void {
    if (this.#view.value?.id !== null) this.#show(unsent);
  }

  #accepted(newest: Newest): void {
    const { id } = newest;
    this.#memory.newest = newest;
    this.#act({ type: "accepted", id });
    this.#follow(id).listen();
  }

  #follow(id: string): Following {
    this.#following?.end();
    this.#following = new Following(id, this.#ports, {
      act: (action) => {
        this.#act(action);
      },
      onGone: () => {
        this.#gone(id);
      },
    });
    return this.#following;
  }

  /** A submission that this tab only remembered is forgotten without a word. */
  #gone(id: string): void {
    if (this.#view.value?.phase === "finished") return;
    if (this.#memory.newest?.id === id) {
      this.#memory.newest = null;
      this.#view.value = null;
    } else {
      this.#act({ type: "unknown", id, sentence: GONE });
    }
  }

  #act(action: Action): void {
    batch(() => {
      const before = this.#view.value;
      const after = reduce(before, action);
      this.#view.value = after;
      if (after?.phase === "finished" && wasUnderWay(before) && after.kind !== "run") {
        this.#finished.value += 1;
      }
    });
  }
}

const wasUnderWay = (view: JudgingView | null): boolean =>
  view?.phase === "queued" || view?.phase === "judging";
