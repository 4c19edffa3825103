import torch


def rotary_embedding(x, positions=None, base=10000.0):
    tokens, width = x.shape[-2:]
    if width % 2:
        raise ValueError("an even width is needed")
    positions = torch.arange(tokens) if positions is None else positions
    angles = positions[..., None] * base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    cosine, sine = angles.cos().bfloat16(), angles.sin().bfloat16()
    first, second = x[..., ::2], x[..., 1::2]
    pairs = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(pairs, -1).flatten(-2).to(x.dtype)
