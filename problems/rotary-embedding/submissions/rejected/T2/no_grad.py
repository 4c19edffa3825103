import torch


@torch.no_grad()
def rotary_embedding(x, positions=None, base=10000.0):
    tokens, width = x.shape[-2:]
    if width % 2:
        raise ValueError("an even width is needed")
    positions = torch.arange(tokens) if positions is None else positions
    angles = positions[..., None] * base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    turned = torch.complex(x[..., ::2].double(), x[..., 1::2].double()) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
