import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """One head at a time, straight from the formula."""
    batch, n_queries, width = query.shape
    n_keys = key.shape[1]
    d = width // num_heads
    if mask is not None:
        mask = mask.expand(batch, num_heads, n_queries, n_keys)
    outputs, maps = [], []
    for h in range(num_heads):
        columns = slice(h * d, (h + 1) * d)
        out, weights = attention_kernel(
            (query @ w_q[:, columns]).unsqueeze(1),
            (key @ w_k[:, columns]).unsqueeze(1),
            (value @ w_v[:, columns]).unsqueeze(1),
            None if mask is None else mask[:, h : h + 1],
        )
        outputs.append(out.squeeze(1))
        maps.append(weights.squeeze(1))
    return torch.cat(outputs, -1) @ w_o, torch.stack(maps, 1)
