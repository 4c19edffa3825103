import { expect, test } from "vitest";

import { nodeWords, ofTrack } from "./dependencies";
import { card, catalogueOf } from "./examples";

const solved = { state: "solved", failed_tier: null, submissions: 1, last_at: null } as const;

const CATALOGUE = catalogueOf(
  card("softmax", { track: "course", used_by: ["attention"], progress: solved }),
  card("linear", { track: "course" }),
  card("attention", { needs: ["softmax", "gone"], used_by: ["block"] }),
  card("block", { needs: ["attention"] }),
  card("dropout"),
);

test("a track shows what it needs of other tracks, and leaves out who stands alone", () => {
  const { cards, layout, alone } = ofTrack(CATALOGUE, "papers");
  expect([...cards.keys()]).toEqual(["softmax", "attention", "block"]);
  expect(layout.arrows).toHaveLength(2);
  expect(alone).toBe(1);
});

test("a track without needs has no arrows", () => {
  expect(ofTrack(CATALOGUE, "course").layout.arrows).toEqual([]);
});

test("the picture in words", () => {
  const cards = new Map(CATALOGUE.problems.map((each) => [each.slug, each]));
  const words = (slug: string) => nodeWords(cards.get(slug) ?? card(""), cards);
  expect(words("softmax")).toBe("Solved.");
  expect(words("attention")).toBe("Needs softmax.");
  expect(words("dropout")).toBe("");
});
