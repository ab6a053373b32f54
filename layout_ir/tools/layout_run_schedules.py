"""The schedules of the kernels that `layout-run` compiles: measured with `--tune`, shown with `--explain`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.context import Context

from layout_ir.lowering.explain import explain_module
from layout_ir.runtime.processor import this_processor
from layout_ir.runtime.tuning import Tuned, tune

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def tuned_function(module: ModuleOp, name: str, options: argparse.Namespace) -> Tuned:
    """The fastest schedule of one function."""
    return tune(module, name, threads=options.threads, sizes=options.sizes)


def explained(module: ModuleOp, tuned: Sequence[Tuned], options: argparse.Namespace) -> str:
    """Why the kernels are as they are: what was measured, then the plan of every copy."""
    if tuned:
        return "\n".join(f"{one.report()}\n{explain_module(Context(), one.module, one.record.winner)}" for one in tuned)
    return explain_module(Context(), module, this_processor().target(options.threads))
