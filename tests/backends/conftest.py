"""Fixtures: lowered IR as text to C text, and C text to a function that numpy arrays are given to."""

from __future__ import annotations

import ctypes
import itertools
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from layout_ir.backends.c import emit_c

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror")

Array = NDArray[Any]


def parse(text: str) -> ModuleOp:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def compile_c(source: str, folder: Path, *flags: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path, library = folder / "kernel.c", folder / "kernel.so"
    path.write_text(source)
    command = ["cc", *STRICT, "-O2", "-fPIC", "-shared", *flags, str(path), "-o", str(library)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{result.stderr}\n{source}"
    return library


@pytest.fixture
def module() -> Callable[[str], ModuleOp]:
    return parse


@pytest.fixture
def c_text() -> Callable[[str], str]:
    """The C text of a module, without the prelude: what stands from the first function on."""

    def text(ir: str) -> str:
        whole = emit_c(parse(ir))
        first = re.search(r"^(static )?void ", whole, re.MULTILINE)
        assert first is not None, whole
        return whole[first.start() :]

    return text


@pytest.fixture
def compiles(tmp_path: Path) -> Callable[..., Path]:
    number = itertools.count()
    return lambda source, *flags: compile_c(source, tmp_path / str(next(number)), *flags)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., None]:
    """`run(ir, name, arrays and ints, flags=...)` compiles the module and calls one of its functions."""
    libraries: dict[tuple[str, ...], ctypes.CDLL] = {}

    def call(ir: str, name: str, *arguments: Array | int, flags: tuple[str, ...] = ("-pedantic",)) -> None:
        if (ir, *flags) not in libraries:
            folder = tmp_path / str(len(libraries))
            libraries[ir, *flags] = ctypes.CDLL(str(compile_c(emit_c(parse(ir)), folder, *flags)))
        values = [
            ctypes.c_void_p(argument.ctypes.data) if isinstance(argument, np.ndarray) else ctypes.c_int64(argument)
            for argument in arguments
        ]
        getattr(libraries[ir, *flags], name)(*values)

    return call
