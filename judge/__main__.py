"""`python -m judge`: the command line without an installed script."""

from __future__ import annotations

from judge.cli import main

if __name__ == "__main__":
    main()
