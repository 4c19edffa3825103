import torch


def rotary_embedding(x, positions=None, base=10000.0):
    """A rotation matrix for each position and pair, as the paper writes it."""
    tokens, width = x.shape[-2:]
    if width % 2 != 0:
        raise ValueError(f"cannot pair {width} features")
    if positions is None:
        positions = torch.arange(tokens)
    theta = torch.tensor([float(base) ** (-2 * i / width) for i in range(width // 2)], dtype=torch.float64)
    angle = torch.einsum("...t,i->...ti", positions.double(), theta)
    rows = [torch.stack([angle.cos(), -angle.sin()], -1), torch.stack([angle.sin(), angle.cos()], -1)]
    matrix = torch.stack(rows, -2).to(x.dtype)
    pairs = x.unflatten(-1, (width // 2, 2))
    return (matrix @ pairs.unsqueeze(-1)).squeeze(-1).flatten(-2)
