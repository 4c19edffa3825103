"""The first code to run inside a box. Its *text* is the argument of ``python3 -I -S -c``.

It may import nothing but the standard library: our packages arrive on descriptor 0, as eight bytes
of length and a zip archive. They are put into the box's private /tmp and imported from there; the
libraries come from the fixed folder below. Descriptors 0 and 1 then become the control channel,
under numbers that nothing which prints can hit, and ``main(box_id, control_in_fd,
control_out_fd)`` of the entry module takes over.

    argv: -c ENTRY_MODULE BOX_ID
"""

from __future__ import annotations

import importlib
import os
import site
import sys

SITE_PACKAGES = "/env/site-packages"  # as in `sandbox.boxes`
ARCHIVE = "/tmp/judge.zip"  # private to the box  # noqa: S108


def read_exactly(size: int) -> bytes:
    """Read `size` bytes of descriptor 0; exits when the launcher is gone."""
    parts = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            sys.exit("the launcher closed the channel before the code had arrived")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive_archive() -> None:
    """Store the archive of our packages, readable only."""
    content = read_exactly(int.from_bytes(read_exactly(8), "big"))
    descriptor = os.open(ARCHIVE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def take_control_channel() -> tuple[int, int]:
    """Move the channel away from 0 and 1; what is printed from now on goes to stderr."""
    channel = os.dup(0), os.dup(1)  # not inheritable
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return channel


def main() -> None:
    """Boot the box."""
    entry, box_id = sys.argv[1:3]
    receive_archive()
    control_in_fd, control_out_fd = take_control_channel()
    site.setquit()  # -S leaves out exit() and quit(), which programs may call
    sys.argv[:] = [entry]
    sys.path[:0] = [ARCHIVE]
    sys.path.append(SITE_PACKAGES)
    importlib.import_module(entry).main(box_id, control_in_fd, control_out_fd)


if __name__ == "__main__":
    main()
