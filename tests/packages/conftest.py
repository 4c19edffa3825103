"""Makes the packages that exercises share importable, as they are beside a submission."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "problems" / "packages"))
