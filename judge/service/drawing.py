"""Charts drawn for the API: in a process beside this one, one at a time, the last few kept.

The renderer holds the interpreter while it draws, so that nothing else would be answered or judged
meanwhile, and ends its process when it runs out of memory. What it draws are numbers a student
chose. Hence a process that may end, with bounds on its time, its memory and what it says.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import resource
import sys
from collections import OrderedDict

import msgspec

from judge.charts import ChartsUnavailable, Drawing, UndrawableChart, draw
from judge.results import Chart

PATIENCE_S = 10.0
MEMORY_BYTES = 2 << 30
NICENESS = 10  # judging goes first
KEPT = 64
KEPT_BYTES = 1 << 20  # larger ones are drawn again
LARGEST_BYTES = 16 << 20


class Drawn(msgspec.Struct):
    """What the process says: a drawing, or why there is none."""

    svg: str = ""
    png: bytes = b""
    undrawable: str = ""
    unavailable: str = ""


class Drawer:
    """Draws one chart at a time; whoever else wants one waits."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._kept: OrderedDict[bytes, Drawing] = OrderedDict()

    async def draw(self, chart: Chart) -> Drawing:
        """Render a chart; raises `ChartsUnavailable` or `UndrawableChart`."""
        words = chart.model_dump_json().encode()
        key = hashlib.sha256(words).digest()
        async with self._turn:
            drawing = self._kept.get(key)
            if drawing is None:
                drawing = await _drawn_beside(words)
            if len(drawing.svg) + len(drawing.png) <= KEPT_BYTES:
                self._kept[key] = drawing
                self._kept.move_to_end(key)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return drawing


async def _drawn_beside(chart: bytes) -> Drawing:
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # and nothing of ours
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "judge.service.drawing",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_S):
            said, _ = await process.communicate(chart)
        drawn = msgspec.msgpack.decode(said, type=Drawn)
    except (TimeoutError, msgspec.DecodeError):
        raise UndrawableChart("it takes more time or memory than a chart may") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if drawn.unavailable:
        raise ChartsUnavailable(drawn.unavailable)
    if drawn.undrawable:
        raise UndrawableChart(drawn.undrawable)
    return Drawing(drawn.svg, drawn.png)


def _draw_one(chart: bytes) -> Drawn:
    try:
        drawing = draw(Chart.model_validate_json(chart))
    except ChartsUnavailable as error:
        return Drawn(unavailable=str(error))
    except UndrawableChart as error:
        return Drawn(undrawable=str(error))
    if len(drawing.svg) + len(drawing.png) > LARGEST_BYTES:
        return Drawn(undrawable="its picture is too large")
    return Drawn(drawing.svg, drawing.png)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (int(PATIENCE_S), int(PATIENCE_S)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)
    sys.stdout.buffer.write(msgspec.msgpack.encode(_draw_one(sys.stdin.buffer.read())))
