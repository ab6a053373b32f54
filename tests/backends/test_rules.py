"""One rule for every kind of operation: by annotation or by type, the method's own for all others."""

from __future__ import annotations

from xdsl.dialects import arith, func, scf
from xdsl.ir import Operation

from layout_ir.backends.rules import RulesOfOperations


class Namer:
    """Notes which rule was taken."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    @RulesOfOperations
    def name(self, op: Operation) -> None:
        self.taken.append("another")

    @name.register
    def _(self, op: arith.ConstantOp) -> None:
        self.taken.append(f"constant {op.name}")

    @name.register(scf.YieldOp)
    @name.register(func.ReturnOp)
    def _(self, op: Operation) -> None:
        self.taken.append("terminator")


def test_the_rule_of_the_type_is_taken() -> None:
    first, second = Namer(), Namer()
    constant = arith.ConstantOp.from_int_and_width(1, 32)
    for op in (constant, scf.YieldOp(), func.ReturnOp(), arith.AddiOp(constant, constant), constant):
        first.name(op)
    assert first.taken == ["constant arith.constant", "terminator", "terminator", "another", "constant arith.constant"]
    assert second.taken == []
