import { expect, test } from "vitest";

import { layOut, NODE_HEIGHT, NODE_WIDTH, type GraphNode, type Layout } from "./layout";

const node = (slug: string, ...needs: string[]): GraphNode => ({ slug, needs });

function placeOf(layout: Layout, slug: string) {
  const place = layout.places.find((each) => each.slug === slug);
  if (!place) throw new Error(`${slug} has no place`);
  return place;
}

/** The columns from left to right, each with its exercises from top to bottom. */
function columns(layout: Layout): string[][] {
  const lefts = [...new Set(layout.places.map(({ x }) => x))].sort((a, b) => a - b);
  return lefts.map((left) => layout.places.filter(({ x }) => x === left).map(({ slug }) => slug));
}

const arrows = (layout: Layout) => layout.arrows.map(({ from, to }) => `${from} ${to}`).sort();

test("a chain stands from left to right, whatever order it comes in", () => {
  expect(columns(layOut([node("c", "b"), node("a"), node("b", "a")]))).toEqual([
    ["a"],
    ["b"],
    ["c"],
  ]);
});

test("an exercise stands after the last of what it needs", () => {
  const layout = layOut([node("a"), node("b", "a"), node("c", "b"), node("d", "a", "c")]);
  expect(columns(layout)).toEqual([["a"], ["b"], ["c"], ["d"]]);
  expect(arrows(layout)).toEqual(["a b", "a d", "b c", "c d"]);
});

test("unknown, doubled and own needs are not drawn", () => {
  const layout = layOut([node("a", "a", "nowhere"), node("b", "a", "a", "gone")]);
  expect(arrows(layout)).toEqual(["a b"]);
});

test("a circle is drawn without the arrow that closes it", () => {
  const layout = layOut([node("a", "c"), node("b", "a"), node("c", "b"), node("d", "c")]);
  expect(columns(layout)).toEqual([["a"], ["b"], ["c"], ["d"]]);
  expect(arrows(layout)).toEqual(["a b", "b c", "c d"]);
});

test("every arrow goes to the right, however the needs are tangled", () => {
  const slugs = Array.from({ length: 30 }, (_, index) => `n${index}`);
  const tangled = slugs.map((slug, index) =>
    node(slug, ...[7, 11, 13].map((step) => `n${(index * step + step) % 30}`)),
  );
  const layout = layOut(tangled);
  expect(layout.places).toHaveLength(30);
  for (const { from, to } of layout.arrows) {
    expect(placeOf(layout, from).x).toBeLessThan(placeOf(layout, to).x);
  }
});

test("exercises never overlap and stay inside the picture", () => {
  const layout = layOut([
    node("a"),
    node("b"),
    node("c", "a", "b"),
    node("d", "a"),
    node("e", "c", "d", "a"),
  ]);
  for (const one of layout.places) {
    expect(one.x + NODE_WIDTH).toBeLessThanOrEqual(layout.width);
    expect(one.y).toBeGreaterThanOrEqual(0);
    expect(one.y + NODE_HEIGHT).toBeLessThanOrEqual(layout.height);
    for (const other of layout.places) {
      if (one.slug === other.slug || one.x !== other.x) continue;
      expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(NODE_HEIGHT);
    }
  }
});

test("an arrow over a column passes beside its exercises", () => {
  const layout = layOut([node("a"), node("b", "a"), node("c", "b", "a")]);
  const between = placeOf(layout, "b");
  const path = layout.arrows.find(({ from, to }) => from === "a" && to === "c")?.path ?? "";
  const height = Number(/C\S+ \S+ \S+ \S+ \S+ ([\d.]+)H/.exec(path)?.[1]);
  expect(height < between.y || height > between.y + NODE_HEIGHT).toBe(true);
});

test("neighbours stand beside each other, so that arrows do not cross", () => {
  const layout = layOut([node("a"), node("b"), node("x", "b"), node("y", "a")]);
  expect(columns(layout)).toEqual([
    ["a", "b"],
    ["y", "x"],
  ]);
});

test("a long chain and no exercise at all are laid out", () => {
  const chain = Array.from({ length: 2000 }, (_, index) => node(`n${index}`, `n${index - 1}`));
  expect(layOut(chain).arrows).toHaveLength(1999);
  expect(layOut([])).toEqual({ width: 0, height: 0, places: [], arrows: [] });
});
