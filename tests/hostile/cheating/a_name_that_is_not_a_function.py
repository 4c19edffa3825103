# verdict: WA
"""The name is there, but it is a number."""

multi_head_attention = 42
