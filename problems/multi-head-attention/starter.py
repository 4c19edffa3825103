import torch


def multi_head_attention(
    query: torch.Tensor,  # [B, Q, D]
    key: torch.Tensor,  # [B, K, D]
    value: torch.Tensor,  # [B, K, D]
    w_q: torch.Tensor,  # [D, D]
    w_k: torch.Tensor,  # [D, D]
    w_v: torch.Tensor,  # [D, D]
    w_o: torch.Tensor,  # [D, D]
    num_heads: int,
    mask: torch.Tensor | None = None,  # broadcastable to [B, H, Q, K], True = visible
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (output [B, Q, D], weights [B, H, Q, K])."""
    # attention_kernel(q, k, v, mask) is already defined; see the tab beside this one.
    raise NotImplementedError("multi_head_attention is not written yet")
