import torch


def rotary_embedding(x, positions, base=10000.0):
    i = torch.arange(x.shape[-1] // 2, dtype=torch.float64)
    angles = positions[..., None] * base ** (-2 * i / x.shape[-1])
    turned = torch.complex(x[..., ::2].double(), x[..., 1::2].double()) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
