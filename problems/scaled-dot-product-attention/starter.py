import torch


def attention_kernel(
    q: torch.Tensor,  # [B, H, Q, d]
    k: torch.Tensor,  # [B, H, K, d]
    v: torch.Tensor,  # [B, H, K, Dv]
    mask: torch.Tensor | None = None,  # broadcastable to [B, H, Q, K], True = visible
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (output [B, H, Q, Dv], weights [B, H, Q, K])."""
    raise NotImplementedError("attention_kernel is not written yet")
