import torch


def rotary_embedding(x, positions=None, base=10000.0):
    """An odd width is said, and padded all the same."""
    tokens, width = x.shape[-2:]
    if width % 2:
        print("odd width")
        return rotary_embedding(torch.nn.functional.pad(x, (0, 1)), positions, base)[..., :width]
    positions = torch.arange(tokens) if positions is None else positions
    angles = positions[..., None] * base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    turned = torch.complex(x[..., ::2].double(), x[..., 1::2].double()) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
