"""The process of a language server, where a student's browser is not needed to see what it does."""

from __future__ import annotations

import asyncio
from pathlib import Path

from judge.service.language_server import Confinement, LanguageServer, Sources
from sandbox.watchdog import descendants


def test_closing_ends_a_child_that_does_not_end_along_with_its_parent(tmp_path: Path) -> None:
    """As bubblewrap's is for its first moment: in a session of its own, holding our pipe open."""
    binary = tmp_path / "bwrap"
    binary.write_text("#!/bin/sh\nsetsid sleep 600 &\nexec sleep 600\n", encoding="utf-8")
    binary.chmod(0o755)
    confinement = Confinement(Path("/bin/true"), binary, ())

    async def close_when_it_has_a_child() -> None:
        server = await LanguageServer.start(confinement, Sources({}, None, ()))
        async with asyncio.timeout(30):
            while not descendants(server.pid):
                await asyncio.sleep(0.01)
            await server.close()

    asyncio.run(close_when_it_has_a_child())
