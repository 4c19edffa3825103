import { expect, test } from "vitest";

import { sidesWithMore } from "./scrolling";

const box = (scrollLeft: number) => ({ scrollLeft, clientWidth: 400, scrollWidth: 500 });

test("a box tells to which sides there is more", () => {
  expect(sidesWithMore(box(0))).toBe("right");
  expect(sidesWithMore(box(50))).toBe("left right");
  expect(sidesWithMore(box(99.6))).toBe("left");
});

test("where all is seen there is no more", () => {
  expect(sidesWithMore({ ...box(0), scrollWidth: 400 })).toBe("");
});
