import { useCallback } from "preact/hooks";

import { getFiles, getHistory, getSolution, Refused } from "../api/http";
import type { HistoryEntry, ProblemPage, Solution } from "../api/types";
import { useLoaded, type Loaded } from "../parts/useLoaded";
import { newestAccepted } from "./entries";

/** What solving opens; `solution` is null until then. */
export interface Opened {
  solution: Solution | null;
  /** The student's newest accepted submission and its files; null when it is too far back. */
  accepted: { entry: HistoryEntry; files: Record<string, string> } | null;
}

const LOCKED: Opened = { solution: null, accepted: null };
const PARTS = 10;

/** The solution of an exercise, if the student has solved it; asked again when `finished` grows. */
export function useSolution(problem: ProblemPage, finished: number): Loaded<Opened> {
  const { slug } = problem;
  const solved = problem.progress.state === "solved";
  const load = useCallback(async () => {
    const entry = await acceptedOf(slug, solved ? PARTS : 1);
    if (!solved && entry === null) return LOCKED;
    const solution = await solutionOf(slug);
    if (solution === null) return LOCKED;
    return { solution, accepted: entry && { entry, files: await getFiles(entry.id) } };
  }, [slug, solved]);
  return useLoaded(load, null, finished);
}

/** The newest accepted submission among the first `parts` parts of the history. */
async function acceptedOf(slug: string, parts: number): Promise<HistoryEntry | null> {
  let before: string | undefined;
  for (let part = 0; part < parts; part++) {
    const history = await getHistory(slug, before);
    const accepted = newestAccepted(history);
    if (accepted !== null || history.next === null) return accepted;
    before = history.next;
  }
  return null;
}

/** The reference and the editorial; null while the judge keeps them. */
async function solutionOf(slug: string): Promise<Solution | null> {
  try {
    return await getSolution(slug);
  } catch (error) {
    if (error instanceof Refused && error.kind === "not-solved") return null;
    throw error;
  }
}
