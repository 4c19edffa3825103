import torch


def attention_kernel(q, k, v, mask=None):
    return q.new_zeros(0), q.new_zeros(0)
