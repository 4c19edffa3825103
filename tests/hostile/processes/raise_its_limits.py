# verdict: AC
"""Right answers, after trying to lift each limit that was set on it."""

import resource

for name in ("RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_FSIZE"):
    number = getattr(resource, name)
    _, hard = resource.getrlimit(number)
    if hard == resource.RLIM_INFINITY:
        raise RuntimeError(f"{name} is not limited")
    for limits in ((hard + 1, hard + 1), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
        try:
            resource.setrlimit(number, limits)
        except (OSError, ValueError):
            continue
        raise RuntimeError(f"{name} was lifted to {limits}")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
