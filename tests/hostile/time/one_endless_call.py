# verdict: TLE
"""One call into C that never returns and never looks at signals.

No handler, watchdog thread or trace function of this interpreter could run meanwhile.
"""

from collections import deque
from itertools import repeat


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    deque(repeat(None), maxlen=0)
