import { expect, test } from "vitest";

import { exerciseName } from "./exerciseName";

test("a chapter is called by its label and title, each once", () => {
  expect(exerciseName({ label: "C2.1", title: "Softmax" })).toBe("C2.1 Softmax");
  expect(exerciseName({ label: "C2.1", title: "C2.1 Softmax" })).toBe("C2.1 Softmax");
});

test("a mere number is no name", () => {
  expect(exerciseName({ label: "8", title: "Softmax" })).toBe("Softmax");
});
