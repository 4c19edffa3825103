"""Say in words why this Python cannot be used to set the judge up. Runs on any Python 3."""

import importlib.util
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - running on an older one is what this is for
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(f"The judge needs Python 3.11 or newer, this is {found}: make PYTHON=python3.12 ...")
if importlib.util.find_spec("ensurepip") is None:
    sys.exit("This Python cannot make virtual environments. Debian, Ubuntu: install python3-venv.")
