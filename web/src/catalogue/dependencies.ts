/** Which exercises a dependency picture shows. */
import type { Catalogue, ProblemCard } from "../api/types";
import { layOut, type Layout } from "./layout";

export interface Dependencies {
  layout: Layout;
  cards: ReadonlyMap<string, ProblemCard>;
  /** How many exercises of the track have no arrow, and are left out. */
  alone: number;
}

/** The exercises of a track that need each other, with what they need of other tracks. */
export function ofTrack(catalogue: Catalogue, track: string): Dependencies {
  const own = catalogue.problems.filter((problem) => problem.track === track);
  const needed = new Set(own.flatMap((problem) => problem.needs));
  const known = new Set(catalogue.problems.map((problem) => problem.slug));
  const drawn = catalogue.problems.filter(
    (problem) =>
      needed.has(problem.slug) ||
      (problem.track === track && problem.needs.some((need) => known.has(need))),
  );
  return {
    layout: layOut(drawn),
    cards: bySlug(drawn),
    alone: own.filter((problem) => !drawn.includes(problem)).length,
  };
}

function bySlug(problems: readonly ProblemCard[]): Map<string, ProblemCard> {
  return new Map(problems.map((problem) => [problem.slug, problem]));
}

/** "Solved. Needs Softmax and Layer norm." for whoever hears the picture. */
export function nodeWords(card: ProblemCard, cards: ReadonlyMap<string, ProblemCard>): string {
  const needs = card.needs.flatMap((need) => cards.get(need)?.title ?? []);
  const solved = card.progress.state === "solved" ? ["Solved."] : [];
  const words = needs.length > 0 ? [`Needs ${LIST.format(needs)}.`] : [];
  return [...solved, ...words].join(" ");
}

const LIST = new Intl.ListFormat("en");
