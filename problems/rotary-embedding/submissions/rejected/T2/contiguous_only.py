import torch


def rotary_embedding(x, positions=None, base=10000.0):
    """`view` on purpose: it works for whatever is contiguous."""
    tokens, width = x.shape[-2:]
    if width % 2:
        raise ValueError("an even width is needed")
    positions = torch.arange(tokens) if positions is None else positions
    angles = positions[..., None] * base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    pairs = x.view(*x.shape[:-1], width // 2, 2).double()
    turned = torch.view_as_complex(pairs) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
