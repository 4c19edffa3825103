"""Rotary position embedding: pairs of features turn by angles that grow with position."""

import torch


def rotary_embedding(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = 10000.0
) -> torch.Tensor:
    """Turn features 2i and 2i + 1 of each vector by its position times base ** (-2i / d)."""
    width = x.shape[-1]
    if width % 2 == 1:
        raise ValueError(f"an even number of features makes pairs, {width} do not")
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)

    # Angles in float64: near position 1000000 float32 ones are off by hundredths.
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width
    angles = positions.unsqueeze(-1).to(torch.float64) * base**-exponents
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    first, second = x[..., 0::2], x[..., 1::2]
    pairs = torch.stack(
        [first * cosine - second * sine, first * sine + second * cosine],
        dim=-1,
    )
    return pairs.flatten(-2)
