"""xDSL's interpreter with a faster walk over regions: what it asks of every operation is looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.interpreter import Interpreter, PythonValues, ReturnedValues
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import InterpretationError

Step = tuple[Operation, tuple[int, ...], tuple[int, ...]]
"""An operation, and under which numbers its operands and results are kept."""


@dataclass
class RegionRunner(Interpreter):
    """
    An interpreter of modules that do not change meanwhile, and in which no function calls itself.

    So a value has one place for the whole run, and no scopes are needed: to search these, and to hash values, took
    xDSL's own walk three quarters of its time.
    """

    _places: dict[int, Any] = field(default_factory=dict[int, Any])
    """What a value is now, by its identity: the module keeps all of them alive."""
    _steps: dict[int, Sequence[Step]] = field(default_factory=dict[int, Sequence[Step]])
    """Of every block that was run, by its identity."""

    def run_ssacfg_region(self, region: Region, args: PythonValues, name: str = "unknown") -> PythonValues:
        """Interpret a region of blocks; `name` is that of a scope, which there is none of."""
        block = region.blocks.first
        while block is not None:
            after = self._run_block(block, args)
            if after is None or isinstance(after, ReturnedValues):
                return () if after is None else after.values
            block, args = after
        return ()

    def _run_block(self, block: Block, args: PythonValues) -> Any:
        """What the terminator of a block says, if it has one."""
        places, run = self._places, self._impls.run
        for argument, value in zip(block.args, args, strict=True):
            places[id(argument)] = value
        for op, operands, results in self._steps_of(block):
            inputs = tuple([places[operand] for operand in operands])
            for listener in self.listeners:
                listener.will_interpret_op(op, inputs)
            values, after = run(self, op, inputs)
            if len(values) != len(results):
                raise InterpretationError(f"{op.name}: expected {len(results)} results, got {len(values)}")
            for listener in self.listeners:
                listener.did_interpret_op(op, values)
            for result, value in zip(results, values):  # noqa: B905 - counted above
                places[result] = value
            if after is not None:
                return after
        return None

    def _steps_of(self, block: Block) -> Sequence[Step]:
        if (known := self._steps.get(id(block))) is None:
            known = self._steps[id(block)] = [(op, _ids(op.operands), _ids(op.results)) for op in block.ops]
        return known


def _ids(values: Sequence[SSAValue]) -> tuple[int, ...]:
    return tuple(map(id, values))
