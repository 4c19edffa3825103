import torch


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    D = query.size(-1)
    d = D // num_heads
    wq, wk, wv = (w.reshape(D, num_heads, d) for w in (w_q, w_k, w_v))
    q = torch.einsum("bnD,Dhd->bhnd", query, wq)
    k = torch.einsum("bmD,Dhd->bhmd", key, wk)
    v = torch.einsum("bmD,Dhd->bhmd", value, wv)
    out, weights = attention_kernel(q, k, v, mask=mask)
    return torch.einsum("bhnd,hdD->bnD", out, w_o.reshape(num_heads, d, D)), weights
