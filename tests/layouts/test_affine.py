"""The range-aware simplifier: a table of what it must reach, and a fuzz of what it must never change."""

from __future__ import annotations

import random

import pytest
from xdsl.ir.affine import AffineExpr

from layout_ir.layouts import affine
from layout_ir.layouts.affine_text import affine_text

D0, D1, D2 = (AffineExpr.dimension(i) for i in range(3))

CASES = [
    ("unit extent", D0 * 5 + D1, (1, 8), "d1"),
    ("mod of a small dim", D0 % 16, (16,), "d0"),
    ("div of a small dim", D0 // 16, (16,), "0"),
    ("split and joined", D0 % 4 + D0 // 4 * 4, (64,), "d0"),
    ("split sum", (D0 * 4 + D1) // 4, (8, 4), "d0"),
    ("split sum remainder", (D0 * 4 + D1) % 4, (8, 4), "d1"),
    ("nested div", D0 // 4 // 2, (64,), "d0 floordiv 8"),
    ("nested mod", D0 % 8 % 4, (64,), "d0 mod 4"),
    ("div of mod", D0 % 8 // 4, (64,), "(d0 floordiv 4) mod 2"),
    ("mod kept", D0 % 4, (64,), "d0 mod 4"),
    ("common factor", (D0 * 8 + D1 * 2 + 1) // 2, (8, 8), "d0 * 4 + d1"),
    ("fine terms dropped", (D0 * 4 + D1) // 8, (8, 4), "d0 floordiv 2"),
    ("fine terms kept apart", (D0 * 4 + D1) % 8, (8, 4), "(d0 mod 2) * 4 + d1"),
    ("blocks within blocks", (D0 * 16 + D1) // 4 % 4, (8, 16), "d1 floordiv 4"),
    ("joined digits", D0 // 4 % 8 * 4 + D0 % 4, (256,), "d0 mod 32"),
    ("pack and unpack", (D0 // 4 * 4 + D0 % 4) // 4, (64,), "d0 floordiv 4"),
    ("factors reduced", ((D0 * 49 + D1) // 4) * 4 + (D0 * 49 + D1) % 4, (8, 49), "d0 * 49 + d1"),
    ("digits of reduced factors", (D0 * 49 + D1) // 4 % 8 * 4 + (D0 + D1) % 4, (8, 49), "(d0 * 49 + d1) mod 32"),
    ("mirrored digit", (D0 % 4 * -1 + 3) % 4, (8,), "(d0 mod 4) * -1 + 3"),
    ("fused modulo a block", (D0 // 14 * 14 + D0 % 14) % 4, (196,), "d0 mod 4"),
    ("mirrored", D0 * -1 + 7, (8,), "d0 * -1 + 7"),
]


@pytest.mark.parametrize("expr, extents, expected", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_simplify(expr: AffineExpr, extents: tuple[int, ...], expected: str):
    assert affine_text(affine.simplify(expr, extents)) == expected


def random_expression(rng: random.Random, depth: int) -> AffineExpr:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([D0, D1, D2, AffineExpr.constant(rng.randint(-3, 9))])
    operand, number = random_expression(rng, depth - 1), rng.choice([1, 2, 3, 4, 6, 8, -2])
    match rng.choice("+*/%c"):
        case "+":
            return operand + random_expression(rng, depth - 1)
        case "*":
            return operand * number
        case "/":
            return operand // abs(number)
        case "%":
            return operand % abs(number)
        case _:
            return operand.ceil_div(abs(number))


def test_simplify_keeps_every_value_and_bounds_hold():
    rng = random.Random(1)
    for _ in range(5000):
        extents = [rng.choice([1, 2, 4, 5, 8, 16]) for _ in range(3)]
        expr = random_expression(rng, 5)
        simplified = affine.simplify(expr, extents)
        low, high = affine.bounds(expr, extents)
        for _ in range(6):
            point = [rng.randrange(extent) for extent in extents]
            value = expr.eval(point, [])
            assert simplified.eval(point, []) == value, f"{expr} became {simplified} at {point} of {extents}"
            assert low <= value <= high


def test_text_reads_back():
    from xdsl.context import Context
    from xdsl.parser import Parser

    rng = random.Random(2)
    for _ in range(500):
        expr = affine.simplify(random_expression(rng, 4), (7, 5, 9))
        source = f"(d0, d1, d2) -> ({affine_text(expr)})"
        (read,) = Parser(Context(), source).parse_affine_map().results
        for point in ([0, 0, 0], [6, 4, 8], [3, 2, 5]):
            assert read.eval(point, []) == expr.eval(point, []), source
