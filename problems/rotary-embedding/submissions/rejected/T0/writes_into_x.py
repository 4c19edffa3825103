import torch


def rotary_embedding(x, positions=None, base=10000.0):
    """Saves memory, at the cost of whoever needs x again."""
    tokens, width = x.shape[-2:]
    if width % 2:
        raise ValueError("an even width is needed")
    positions = torch.arange(tokens) if positions is None else positions
    i = torch.arange(width // 2, dtype=torch.float64)
    angles = positions[..., None] * base ** (-2 * i / width)
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., ::2].clone(), x[..., 1::2].clone()
    x[..., ::2] = first * cosine - second * sine
    x[..., 1::2] = first * sine + second * cosine
    return x
