"""Layers in another order, a helper class, a buffer nobody saves, printing, a main block."""

from __future__ import annotations

import torch
import torch.nn as nn

print("loading the solution")


class Split(nn.Module):
    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).movedim(-2, 1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        if d_model % num_heads:
            raise AssertionError(f"{num_heads} heads cannot share {d_model} features")
        self.d_model, self.num_heads, self.d_head = d_model, num_heads, d_model // num_heads
        for name in ("out_proj", "v_proj", "k_proj", "q_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.split = Split(num_heads)
        self.register_buffer("mask", torch.ones(64, 64, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x: torch.Tensor, causal: bool = False) -> torch.Tensor:
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        print("q", tuple(q.shape))
        scores = q.matmul(k.transpose(-1, -2)).div(self.d_head**0.5)
        if causal:
            scores = scores.masked_fill(self.mask[: x.shape[1], : x.shape[1]], -1e9)
        # The softmax written out, with the largest score of each row taken off first.
        grown = (scores - scores.amax(-1, keepdim=True).detach()).exp()
        weights = grown / grown.sum(-1, keepdim=True)
        return self.out_proj((weights @ v).movedim(1, -2).flatten(-2))


if __name__ == "__main__":
    print(MultiHeadAttention(8, 2)(torch.rand(1, 3, 8)))
    raise SystemExit("this never runs in the judge")
