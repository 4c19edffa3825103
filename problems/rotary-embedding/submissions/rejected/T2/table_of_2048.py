import torch


def rotary_embedding(x, positions=None, base=10000.0):
    """Angles are looked up: for whole positions from 0 to 2047."""
    tokens, width = x.shape[-2:]
    if width % 2:
        raise ValueError("an even width is needed")
    frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    table = torch.outer(torch.arange(2048, dtype=torch.float64), frequencies)
    angles = table[:tokens] if positions is None else table[positions.long()]
    turned = torch.complex(x[..., ::2].double(), x[..., 1::2].double()) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
