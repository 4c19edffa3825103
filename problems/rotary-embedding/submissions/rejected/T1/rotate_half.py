import torch


def rotate_half(x):
    left, right = x.chunk(2, dim=-1)
    return torch.cat([-right, left], dim=-1)


def rotary_embedding(x, positions=None, base=10000.0):
    """The other layout, written the way that models with it write it."""
    tokens, width = x.shape[-2:]
    if width % 2:
        raise ValueError("an even width is needed")
    positions = torch.arange(tokens) if positions is None else positions
    frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = positions[..., None] * frequencies
    angles = torch.cat([angles, angles], dim=-1)
    return x * angles.cos().to(x.dtype) + rotate_half(x) * angles.sin().to(x.dtype)
