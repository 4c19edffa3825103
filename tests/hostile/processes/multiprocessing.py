# verdict: RE; message: PermissionError
"""Uses a pool of processes, as an honest but heavy solution might."""

from multiprocessing import Process


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    worker = Process(target=int)
    worker.start()
    worker.join()
