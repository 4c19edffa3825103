# verdict: RE
"""Raises in a function, in a frame and in a module with names made of escape sequences."""


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    source = "def inner():\n    raise KeyError('\\x1b[2J\\x00')\n"
    module = {"__name__": "\x1b[31m\x00\ud800"}
    code = compile(source, "solution.py", "exec")
    exec(code, module)
    inner = module["inner"]
    inner.__code__ = inner.__code__.replace(co_name="\x1b[31m\x00</pre>", co_firstlineno=10**6)
    inner()
