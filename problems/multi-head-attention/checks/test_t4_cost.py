"""T4: what a call costs. It counts for nothing here; a model with long sequences would feel it.

One weight for each head, query and key is unavoidable, since the weights are returned: B·H·Q·K
numbers. Two well-known detours need twelve times as many here: a score for every pair of heads, and
the products of queries and keys written out before they are summed. The heads are as many as the
features of one, so that both cost the same.

A peak is exact to about one MiB, and contains the inputs three times and the results. Processor
time is told instead of wall time, since the machine may be busy. So the bound on memory has room
for every sensible way, and the bound on time is there for what grows with a power too many.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from oracle import FUNCTION, Case, checked_pair, expected

from judge.checks import Charts, Cost, Rng, Submission, assert_close, check, fail

MIB = 1 << 20
HEADS = 12
WIDTH = HEADS * HEADS
LENGTHS = (48, 96, 192)  # queries, and as many keys
HELD = 6  # arrays of weights that may be held at once: scores, weights, steps between them
ALWAYS_BYTES = 8 * MIB  # inputs and results on their way, and what every call takes
LENIENT = 4.0  # times as fast as the work may time grow: a power too many is seven times as fast
TRIES = 3  # of what seems to take too long
WEIGHTS, WORK, BOUND = "the weights", "the work", "the bound"
# Stroke, dash and mark of each series: alike in no two of the three, so that colour is not needed.
LOOKS = {
    "submission": ("#0072B2", [1, 0], "circle"),
    "reference": ("#009E73", [6, 3], "square"),
    WEIGHTS: ("#D55E00", [2, 2], "cross"),
    WORK: ("#D55E00", [2, 2], "cross"),
    BOUND: ("#8C8C8C", [8, 2], "triangle-up"),
}
Spec = dict[str, object]


def _cases(rng: Rng) -> dict[int, Case]:
    """By length, one sequence that attends to another as long, in float32.

    The shorter ones are the beginning of the longest, copied: a view would travel with all of it.
    """
    sequences = rng.uniform(3, 1, LENGTHS[-1], WIDTH, low=-1.0, dtype=torch.float32)
    largest = (3 / WIDTH) ** 0.5  # that of a standard deviation of 1/sqrt(D)
    matrices = rng.uniform(4, WIDTH, WIDTH, low=-largest, high=largest, dtype=torch.float32)
    return {
        length: Case(*sequences[:, :, :length].clone(), *matrices, num_heads=HEADS)
        for length in LENGTHS
    }


def _measure(submission: Submission, case: Case) -> Cost:
    return submission.measure(FUNCTION, *case.tensors.values(), case.num_heads)


def _weights_bytes(length: int) -> int:
    return 4 * HEADS * length**2


def _bound_bytes(length: int) -> int:
    return HELD * _weights_bytes(length) + ALWAYS_BYTES


def _work(length: int) -> int:
    """Multiplications: four projections, then scores and mixtures for all heads."""
    return 4 * length * WIDTH**2 + 2 * length**2 * WIDTH


def _growth(length: int) -> float:
    """The work, as a multiple of that of the shortest sequence."""
    return _work(length) / _work(LENGTHS[0])


def _require_right(cost: Cost, case: Case) -> None:
    """The call did its work: its last two queries are answered right."""
    output, weights = checked_pair(cost.value, case)
    few = replace(case, query=case.query[:, -2:])
    right_output, right_weights = expected(few)
    assert_close(output[:, -2:], right_output, "the last two outputs", dtype=torch.float32)
    assert_close(weights[:, :, -2:], right_weights, "their weights", dtype=torch.float32)


@check(
    kind="cost",
    why="Sequences are long in practice, and what is twelve times the weights fits nowhere.",
)
def test_cost_of_long_sequences(submission: Submission, rng: Rng, charts: Charts) -> None:
    """With long sequences a call holds memory like its weights and takes time like its work."""
    cases = _cases(rng)
    costs = {length: _measure(submission, case) for length, case in cases.items()}
    times_ms = _times_ms(submission, cases, costs)
    _draw_memory(charts, costs)
    _draw_time(charts, times_ms)
    longest = LENGTHS[-1]
    _require_right(costs[longest], cases[longest])
    for length in reversed(LENGTHS):
        if costs[length].peak_bytes > _bound_bytes(length):
            fail(_too_much(length, costs[length]))
    if _too_slow(times_ms):
        fail(_too_long(times_ms))


def _times_ms(
    submission: Submission, cases: dict[int, Case], costs: dict[int, Cost]
) -> dict[int, float]:
    """Processor time by length; where it grows too fast, the least of several calls."""
    times_ms = {length: cost.cpu_ms for length, cost in costs.items()}
    for _ in range(TRIES - 1):
        if _too_slow(times_ms):
            for length, case in cases.items():
                times_ms[length] = min(times_ms[length], _measure(submission, case).cpu_ms)
    return times_ms


def _too_slow(times_ms: dict[int, float]) -> bool:
    first_ms = times_ms[LENGTHS[0]]
    return any(ms > LENIENT * _growth(length) * first_ms for length, ms in times_ms.items())


def _too_much(length: int, cost: Cost) -> str:
    held, weights = cost.peak_bytes / MIB, _weights_bytes(length) / MIB
    return (
        f"With {length} queries and keys and {HEADS} heads the call held {held:.0f} MiB. Its "
        f"weights are {weights:.1f} MiB, and {_bound_bytes(length) / MIB:.0f} MiB would do. Is "
        "there an array with one axis more than the weights have?"
    )


def _too_long(times_ms: dict[int, float]) -> str:
    first, last = LENGTHS[0], LENGTHS[-1]
    return (
        f"From {first} to {last} queries and keys the work grows {_growth(last):.0f} times, and "
        f"the time of the call {times_ms[last] / times_ms[first]:.0f} times. Is something computed "
        "anew for every query that could be computed once?"
    )


# --- charts ---------------------------------------------------------------------------------------


def _draw_memory(charts: Charts, costs: dict[int, Cost]) -> None:
    words = f"Peak memory of a call over the length: {charts.source}, {WEIGHTS} and {BOUND}."
    charts.record(
        "peak-memory",
        title="What a call holds at most",
        spec=_lines(charts.source, WEIGHTS, "peak in MiB", words),
        table=[
            {
                "length": length,
                charts.source: round(cost.peak_bytes / MIB, 1),
                WEIGHTS: round(_weights_bytes(length) / MIB, 1),
                BOUND: round(_bound_bytes(length) / MIB, 1),
            }
            for length, cost in costs.items()
        ],
    )


def _draw_time(charts: Charts, times_ms: dict[int, float]) -> None:
    words = f"Growth of a call's time over the length: {charts.source}, {WORK} and {BOUND}."
    first_ms = times_ms[LENGTHS[0]]
    charts.record(
        "growth-of-time",
        title="How its time grows",
        spec=_lines(charts.source, WORK, f"times that of {LENGTHS[0]}", words),
        table=[
            {
                "length": length,
                charts.source: round(ms / first_ms, 2),
                WORK: round(_growth(length), 2),
                BOUND: round(LENIENT * _growth(length), 2),
            }
            for length, ms in times_ms.items()
        ],
    )


def _lines(source: str, target: str, quantity: str, description: str) -> Spec:
    """Lines with marks over the length of the sequences."""
    names = [source, target, BOUND]
    strokes, dashes, shapes = zip(*(LOOKS[name] for name in names), strict=True)
    series = {"field": "series", "type": "nominal", "sort": None}
    legend = {"title": None, "orient": "top", "columns": 2}
    looks = {
        "color": (strokes, legend),
        "strokeDash": (dashes, None),  # a dashed outline would make marks in the legend ragged
        "shape": (shapes, legend),
    }
    axes = {"x": ("length", "queries and keys"), "y": ("number", quantity)}
    return {
        "description": description,
        "transform": [{"fold": names, "as": ["series", "number"]}],
        "width": 340,
        "height": 200,
        "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 60}},
        "encoding": {
            **{
                channel: {
                    "field": field,
                    "type": "quantitative",
                    "axis": {"title": title, "tickCount": 5, "format": "~f"},
                }
                for channel, (field, title) in axes.items()
            },
            **{
                channel: {
                    **series, "scale": {"domain": names, "range": values}, "legend": shown,
                }
                for channel, (values, shown) in looks.items()
            },
        },
    }  # fmt: skip
