/** Made-up exercises for the tests of the catalogue. */
import type { Catalogue, ProblemCard } from "../api/types";

export function card(slug: string, more: Partial<ProblemCard> = {}): ProblemCard {
  return {
    slug,
    title: slug,
    summary: "",
    track: "papers",
    number: 1,
    label: String(more.number ?? 1),
    tags: [],
    tiers: [],
    needs: [],
    used_by: [],
    progress: { state: "untouched", failed_tier: null, submissions: 0, last_at: null },
    pass_rate: null,
    version: "1",
    ...more,
  };
}

export function catalogueOf(...problems: ProblemCard[]): Catalogue {
  return {
    tracks: [
      { id: "papers", title: "Papers", summary: "" },
      { id: "course", title: "Course", summary: "" },
    ],
    problems,
    broken: [],
  };
}
