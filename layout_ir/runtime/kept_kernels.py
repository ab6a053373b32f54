"""
Kernels by what was asked for.

The cache knows libraries by their C texts, and to make a text takes 20 to 500 times as long as to load what was
compiled from it. So what a request came to is kept beside them: another process that asks for the same loads it at
once. What is kept says nothing more once this package, the compiler or the processor is another one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from operator import index
from pathlib import Path
from typing import Any

from layout_ir._version import __version__
from layout_ir.errors import LayoutError
from layout_ir.layouts.element_type import ElementType, element_type
from layout_ir.layouts.layout import Layout
from layout_ir.layouts.symbols import Polynomial, Symbol
from layout_ir.runtime import cache as libraries
from layout_ir.runtime.compiler import team_of
from layout_ir.runtime.kernel import Kernel, KernelArgument, function_of, loaded
from layout_ir.runtime.sized_kernel import SizedArgument, SizedKernel

PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Request:
    """A reorder that a kernel of one function was asked for."""

    source: Layout
    destination: Layout
    shape: tuple[int | None, ...]
    element: ElementType
    threads: int | None
    pad: float | None

    def find(self) -> Kernel | None:
        """The kernel that was kept for the same request, if all of it is still there."""
        try:
            path = self._path()
        except LayoutError:  # no compiler, which is said after what is wrong with the request itself
            return None
        try:
            kept = json.loads(path.read_text(encoding="utf-8")) if path else None
            return None if kept is None else self._kernel(kept)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # gone, or half of it
            return None

    def keep(self, kernel: Kernel) -> None:
        """Keep a kernel for those who ask for the same, if there is room."""
        path = self._path()
        if path is None or state_of_package() != package_state():  # changed since it was imported
            return
        with suppress(LayoutError):
            library = libraries.kernel_key(kernel.source, self.threads is not None)
            libraries.keep_text(path, json.dumps(_described(kernel, library)))

    def _path(self) -> Path | None:
        """Where the kernel is kept; None for layouts of others, of which nothing tells one from another."""
        layouts = self.source, self.destination
        if any(not type(layout).__module__.startswith(f"{PACKAGE.name}.") for layout in layouts):
            return None
        team = None if self.threads is None else team_of(self.threads)
        described = (*layouts, self.shape, self.element, team, _exactly(self.pad))
        settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("LAYOUT_IR_"))
        key = libraries.kernel_key("", self.threads is not None, package_state(), repr(settings), repr(described))
        return libraries.cache_folder() / f"{key}.json"

    def _kernel(self, kept: dict[str, Any]) -> Kernel:
        library = libraries.cache_folder() / kept["library"]
        source = library.with_suffix(".c").read_text(encoding="utf-8")
        name, sizes = kept["name"], kept["sizes"]
        arguments = [
            KernelArgument(each["name"], element_type(each["element"]), each["size"], each["is_written"])
            for each in kept["arguments"]
        ]
        function = function_of(loaded(f"{library}.so"), name, len(arguments), len(sizes), threads=self.threads)
        if not sizes:
            return Kernel(name, arguments, source, function)
        sized = [
            SizedArgument(argument, _polynomial(each["cells"]), {int(dim): text for dim, text in each["names"].items()})
            for argument, each in zip(arguments, kept["arguments"], strict=True)
        ]
        return SizedKernel(name, sized, sizes, source, function)


def _described(kernel: Kernel, library: str) -> dict[str, Any]:
    """What makes a kernel of its library, for JSON."""
    sized: Sequence[SizedArgument] = kernel.sized_arguments if isinstance(kernel, SizedKernel) else ()
    arguments: list[dict[str, Any]] = [
        {
            "name": argument.name,
            "element": argument.element.name,
            "size": argument.size,
            "is_written": argument.is_written,
        }
        for argument in kernel.arguments
    ]
    for argument, each in zip(arguments, sized, strict=False):
        argument["names"] = {str(dim): name for dim, name in each.names.items()}
        argument["cells"] = [
            [factor, [[symbol.dim, symbol.block, symbol.least] for symbol in product]] for product, factor in each.cells
        ]
    sizes = kernel.size_names if isinstance(kernel, SizedKernel) else ()
    return {"library": library, "name": kernel.name, "sizes": list(sizes), "arguments": arguments}


def _polynomial(terms: list[Any]) -> Polynomial:
    return tuple((tuple(Symbol(*symbol) for symbol in product), factor) for factor, product in terms)


def _exactly(pad: float | None) -> str:
    """A number as itself, whatever its own text is."""
    if pad is None:
        return "none"
    try:
        return str(index(pad))  # pyright: ignore[reportArgumentType]
    except TypeError:
        pass
    try:
        return float(pad).hex()
    except (TypeError, ValueError):  # no number: whoever plans with it says so
        return repr(pad)


@cache
def package_state() -> str:
    """The state of this package when it was first asked for."""
    return state_of_package()


def state_of_package() -> str:
    """Changes when this package does: its version, and the sizes and times of its files."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(PACKAGE) for name in names]
    files = [(path, os.stat(path)) for path in sorted(paths) if path.endswith(".py")]
    return repr((__version__, [(path, status.st_size, status.st_mtime_ns) for path, status in files]))
