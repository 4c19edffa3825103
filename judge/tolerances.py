"""How far a result may be off, by dtype. Stands apart from the checks so that it needs no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """An entry may be off by ``atol + rtol * |expected|``."""

    rtol: float
    atol: float

    def __str__(self) -> str:
        return f"rtol {self.rtol:g}, atol {self.atol:g}"


EXACT = Tolerance(0.0, 0.0)
TOLERANCES = {
    "float64": Tolerance(1e-7, 1e-9),
    "complex128": Tolerance(1e-7, 1e-9),
    "float32": Tolerance(1e-4, 1e-6),
    "complex64": Tolerance(1e-4, 1e-6),
    "float16": Tolerance(1e-2, 1e-3),
    "bfloat16": Tolerance(5e-2, 1e-2),
}
# A gradient adds up many products, and its rounding error does not shrink with the entry.
GRADIENT_ATOL = {"float32": 1e-5, "complex64": 1e-5}
DEFAULT_NUMBERS = frozenset(
    {number for each in TOLERANCES.values() for number in (each.rtol, each.atol)}
    | set(GRADIENT_ATOL.values())
)
