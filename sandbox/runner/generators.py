"""The global generators of random numbers that code may draw from."""

from __future__ import annotations

import random

import numpy as np
import torch


def seed_generators(seed: int) -> None:
    """Let those of torch, numpy and `random` begin anew: a fork has the ones it was forked with."""
    torch.default_generator.manual_seed(seed % (1 << 63))  # torch.manual_seed asks for GPUs first
    np.random.seed(seed % (1 << 32))
    random.seed(seed)
