"""How every box starts, whatever makes it: the command, the environment, the code on its stdin."""

from __future__ import annotations

import socket
from pathlib import Path

from sandbox.boxes import SandboxError

SEND_S = 20.0

# -I: nothing from the environment or the working folder; -S: nothing from the base's own packages.
BOOT_COMMAND = ("-I", "-S", "-B", "-c", Path(__file__).with_name("boot.py").read_text())

# One thread each: the zygote must have no second thread when it forks, and a parallel region that
# ran before a fork is lost in the child. One arena keeps address space close to memory in use.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108  # private to the box
    "LANG": "C.UTF-8",
}


def send_code(channel: socket.socket, code: bytes) -> None:
    """Send what `boot.py` waits for; raises `SandboxError` when the box does not take it."""
    channel.settimeout(SEND_S)
    try:
        channel.sendall(len(code).to_bytes(8, "big") + code)
    except OSError as error:
        raise SandboxError(f"the box did not start ({error})") from None
    finally:
        channel.setblocking(False)
