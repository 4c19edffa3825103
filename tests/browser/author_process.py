"""`judge dev SLUG --port 0` with a proof that is told instead of found: it takes no minutes."""

from __future__ import annotations

import sys

from judge.commands.terminal import announce
from judge.problem import find_folder
from judge.service import starting
from judge.settings import load_settings
from tests.service.proofs import fake_prover

if __name__ == "__main__":
    settings = load_settings()
    folder = find_folder(settings.problems, sys.argv[1])
    starting.preview(settings, "127.0.0.1", 0, announce, folder, fake_prover)
