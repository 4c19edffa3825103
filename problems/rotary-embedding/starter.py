import torch


def rotary_embedding(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = 10000.0
) -> torch.Tensor:
    """Return x [..., T, d] with its pairs of features (2i, 2i + 1) rotated."""
    raise NotImplementedError("rotary_embedding is not written yet")
