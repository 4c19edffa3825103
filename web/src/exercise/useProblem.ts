import { useCallback, useEffect, useState } from "preact/hooks";

import { getProblem, Refused } from "../api/http";
import type { ProblemPage } from "../api/types";
import { sentenceOf } from "../parts/useLoaded";
import { steady } from "./steady";

type Loading =
  | { state: "loading" }
  | { state: "ready"; problem: ProblemPage }
  | { state: "unknown" }
  /** The judge cannot answer now; it is asked again. */
  | { state: "away"; sentence: string };

/** What the judge says to a name that no exercise has, or could have. */
const UNKNOWN = new Set(["unknown-exercise", "invalid"]);
const AGAIN_MS = 5000;
const POLL_MS = 2000;
const SLOWEST_POLL_MS = 20_000;

/** The exercise of that name, asked for again until the judge answers; `retry` asks at once. */
export function useProblem(slug: string): { loading: Loading; retry: () => void } {
  const [loading, setLoading] = useState<Loading>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);
  const retry = useCallback(() => {
    setAttempt((before) => before + 1);
  }, []);

  useEffect(() => {
    let current = true;
    let again: ReturnType<typeof setTimeout> | undefined;
    void load(slug).then((next) => {
      if (!current) return;
      setLoading((before) => following(before, next));
      if (next.state === "away") again = setTimeout(retry, AGAIN_MS);
    });
    return () => {
      current = false;
      clearTimeout(again);
    };
  }, [slug, attempt, retry]);

  useEffect(() => {
    if (loading.state !== "away") return;
    addEventListener("online", retry);
    return () => {
      removeEventListener("online", retry);
    };
  }, [loading, retry]);

  const pending = loading.state === "ready" && loading.problem.preview.state === "pending";
  useEffect(() => {
    if (!pending) return;
    return poll(slug, (problem) => {
      setLoading({ state: "ready", problem });
    });
  }, [slug, pending]);

  return { loading, retry };
}

/** What to show next: a page that can be read stays while the judge is away. */
function following(before: Loading, next: Loading): Loading {
  if (before.state !== "ready") return next;
  if (next.state === "ready") {
    return { state: "ready", problem: steady(before.problem, next.problem) };
  }
  return next.state === "away" ? before : next;
}

async function load(slug: string): Promise<Loading> {
  try {
    return { state: "ready", problem: await getProblem(slug) };
  } catch (error) {
    if (error instanceof Refused && UNKNOWN.has(error.kind)) return { state: "unknown" };
    return { state: "away", sentence: sentenceOf(error) };
  }
}

/** Ask, ever more rarely, until a worker has read the exercise; returns what ends it. */
function poll(slug: string, onRead: (problem: ProblemPage) => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let ended = false;
  const askIn = (ms: number) => {
    timer = setTimeout(() => {
      void load(slug).then((next) => {
        if (ended) return;
        if (next.state === "ready" && next.problem.preview.state !== "pending") {
          onRead(next.problem);
        } else {
          askIn(Math.min(ms * 1.5, SLOWEST_POLL_MS));
        }
      });
    }, ms);
  };
  askIn(POLL_MS);
  return () => {
    clearTimeout(timer);
    ended = true;
  };
}
