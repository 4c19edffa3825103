import torch


def rotary_embedding(x, positions=None, base=10000.0):
    """A pair is a complex number, and a rotation a product with a number of length one."""
    *_, tokens, width = x.shape
    if width % 2:
        raise ValueError("an even width is needed")
    where = torch.arange(tokens) if positions is None else positions
    frequencies = torch.exp(-torch.log(torch.tensor(base, dtype=torch.float64)) * torch.arange(0, width, 2) / width)
    angles = where.double()[..., None] * frequencies
    turns = torch.polar(torch.ones_like(angles), angles)
    numbers = torch.view_as_complex(x.double().contiguous().unflatten(-1, (-1, 2)))
    return torch.view_as_real(numbers * turns).reshape(x.shape).to(x.dtype)
