# verdict: AC
"""Right answers, after trying the system calls that no exercise needs, one by one.

Each is called so that an unfiltered kernel would do it, or object to something else than to the
one who asks. Only "not permitted" and "no such call" are refusals.
"""

import ctypes
import errno
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
zeros = ctypes.create_string_buffer(4096)
perf = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 112, 0).ljust(112, b"\0"), 112)
PRIVATE, MAKE = 0, 0o1600
CALLS = {  # name: numbers on x86_64 and aarch64, arguments
    "add_key": (248, 217, b"user", b"left", b"x", 1, -3),
    "request_key": (249, 218, b"user", b"left", None, -3),
    "keyctl": (250, 219, 0, -3, 1),
    "bpf": (321, 280, 0, zeros, 72),
    "io_uring_setup": (425, 425, 4, zeros),
    "userfaultfd": (323, 282, 1),
    "perf_event_open": (298, 241, perf, 0, -1, -1, 0),
    "shmget": (29, 194, PRIVATE, 4096, MAKE),
    "semget": (64, 190, PRIVATE, 1, MAKE),
    "msgget": (68, 186, PRIVATE, MAKE),
    "setns": (308, 268, 0, 0),
    "unshare": (272, 97, 0x10000000),
    "open_by_handle_at": (304, 265, 0, zeros, 0),
    "kcmp": (312, 272, os.getpid(), os.getpid(), 0, 0, 0),
    "init_module": (175, 105, zeros, 8, b""),
    "finit_module": (313, 273, 0, b"", 0),
    "delete_module": (176, 106, b"nothing", 0),
    "kexec_load": (246, 104, 0, 0, None, 0),
    "reboot": (169, 142, 0, 0, 0, None),
    "swapon": (167, 224, b"/tmp/none", 0),
    "acct": (163, 89, None),
    "clock_settime": (227, 112, 0, zeros),
    "sethostname": (170, 161, b"owned", 5),
    "setdomainname": (171, 162, b"owned", 5),
    "syslog": (103, 116, 3, zeros, 4096),
    "quotactl": (179, 60, 0x800001 << 8, None, 0, None),
    "fanotify_init": (300, 262, 0, 0),
}
for name, (on_x86, on_arm, *arguments) in CALLS.items():
    result = libc.syscall(on_arm if arm else on_x86, *arguments)
    if result >= 0:
        raise RuntimeError(f"{name} was allowed")
    if ctypes.get_errno() not in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        raise RuntimeError(f"{name} was not refused: {os.strerror(ctypes.get_errno())}")


def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
