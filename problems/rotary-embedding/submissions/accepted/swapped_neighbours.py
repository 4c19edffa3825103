import torch


def _neighbours(x):
    """(a, b, c, d, ...) becomes (-b, a, -d, c, ...)."""
    swapped = torch.empty_like(x)
    swapped[..., 0::2] = -x[..., 1::2]
    swapped[..., 1::2] = x[..., 0::2]
    return swapped


def rotary_embedding(x, positions=None, base=10000.0):
    """Two products and a sum over the whole width, with each angle written down twice."""
    width = x.size(-1)
    if width % 2:
        raise ValueError("an even width is needed")
    if positions is None:
        positions = torch.arange(x.size(-2))
    pair = torch.arange(width).div(2, rounding_mode="floor").double()
    angle = positions.double().unsqueeze(-1) * torch.pow(torch.tensor(base).double(), -2 * pair / width)
    return x * angle.cos().to(x.dtype) + _neighbours(x) * angle.sin().to(x.dtype)
