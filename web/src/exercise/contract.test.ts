import { expect, test } from "vitest";

import { declarations } from "./contract";

const CONTRACT = `# What a solution defines.

from torch import Tensor

# Provided, read-only. q: [B, d].
# Returns [B].
def kernel(q: Tensor) -> Tensor: ...

# Required.
def solve(
    query: Tensor,
    mask: Tensor | None = None,
) -> Tensor: ...

class Layer:
    """A layer."""

    def forward(self) -> None: ...
`;

test("a function comes with its signature and what the comment above it says", () => {
  expect(declarations(CONTRACT, ["kernel"])).toEqual([
    {
      name: "kernel",
      about: "q: [B, d]. Returns [B].",
      source: "def kernel(q: Tensor) -> Tensor: ...",
    },
  ]);
});

test("declarations come in the order they are asked for", () => {
  const names = declarations(CONTRACT, ["Layer", "solve"]).map((each) => each.name);
  expect(names).toEqual(["Layer", "solve"]);
});

test("a class comes whole", () => {
  expect(declarations(CONTRACT, ["Layer"])[0]?.source).toBe(
    'class Layer:\n    """A layer."""\n\n    def forward(self) -> None: ...',
  );
});

test("a comment of the file is not the first declaration's", () => {
  const [first] = declarations("# About the file.\n\ndef f(): ...\n", ["f"]);
  expect(first).toEqual({ name: "f", about: "", source: "def f(): ..." });
});

test("what is not declared is left out", () => {
  expect(declarations(CONTRACT, ["nothing"])).toEqual([]);
  expect(declarations("", ["f"])).toEqual([]);
});
