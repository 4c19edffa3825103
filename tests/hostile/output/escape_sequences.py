# verdict: AC; output: visible
"""Right answers, printing what terminals, browsers, databases and readers choke on.

All of it must arrive as harmless text.
"""

import os

os.write(1, b"visible \x1b[2J\x1b]0;owned\x07\x1b[8mhidden\x9b31m\x08\x7f\r over\n")
os.write(1, b"NUL \x00, not UTF-8 \xff\xfe\xc0\x80 and half a character \xe2\x82\n")
os.write(1, "\ud800\udfff \u202eesrever\u2066 \u2028\u2029\n".encode("utf-8", "surrogatepass"))
os.write(2, b"<script>alert(1)</script><img src=x onerror=alert(2)>\n")
os.write(2, b"\xef\xbf\xbe\xef\xbf\xbf\n")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
