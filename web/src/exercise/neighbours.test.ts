import { expect, test } from "vitest";

import type { Catalogue, ProblemCard } from "../api/types";
import { placeOf } from "./neighbours";

function card(slug: string, track: string, number: number): ProblemCard {
  return {
    slug,
    title: slug.toUpperCase(),
    summary: "",
    track,
    number,
    label: String(number),
    tags: [],
    tiers: [],
    needs: [],
    used_by: [],
    progress: { state: "untouched", submissions: 0 },
    pass_rate: null,
    version: "1",
  };
}

const CATALOGUE: Catalogue = {
  tracks: [{ id: "papers", title: "Papers", summary: "" }],
  problems: [card("c", "papers", 3), card("a", "papers", 1), card("x", "other", 2)],
  broken: [],
};

test("neighbours are the nearest numbers of the same track", () => {
  expect(placeOf(CATALOGUE, "a")?.next).toEqual({ title: "C", href: "/problems/c" });
  expect(placeOf(CATALOGUE, "c")?.previous).toEqual({ title: "A", href: "/problems/a" });
});

test("the ends of a track have no neighbour", () => {
  expect(placeOf(CATALOGUE, "a")?.previous).toBeNull();
  expect(placeOf(CATALOGUE, "c")?.next).toBeNull();
});

test("the trail names the track, where it is known", () => {
  expect(placeOf(CATALOGUE, "a")?.trail).toEqual([{ title: "Papers", href: "/tracks/papers" }]);
  expect(placeOf(CATALOGUE, "x")?.trail).toEqual([]);
});

test("what is not in the catalogue has no place", () => {
  expect(placeOf(CATALOGUE, "nothing")).toBeNull();
});
