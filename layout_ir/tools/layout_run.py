"""
`layout-run`: compiles the functions of an IR file, runs them on real or made data, and checks every bit.

Each function is lowered, printed as C, compiled, and called on the given arrays; what it wrote is compared with what
the numpy interpreter writes, and one line says how fast it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from layout_ir._version import __version__
from layout_ir.errors import LayoutError, nearest

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from layout_ir.interpreter.functions import Storage
    from layout_ir.runtime.kernel import Kernel
    from layout_ir.runtime.tuning import Tuned
    from layout_ir.tools.layout_run_job import Job

DIALECTS = ("builtin", "func", "memref", "tensor", "arith", "scf", "affine", "vector")
"""Dialects of xDSL that a file may use besides `layout`."""

TARGETS = ("c", "opencl")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status: 0, or 1 after one message on stderr."""
    options = _parser().parse_args(args)
    try:
        _run(options)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    except MemoryError as error:
        print(f"layout-run: not enough memory: {error}", file=sys.stderr)
        return 1
    except LayoutError as error:
        print(f"layout-run: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "layout-run",
        description="Compile the functions of an IR file, run them, and compare every bit with the numpy interpreter.",
    )
    add = parser.add_argument
    add("file", type=Path, nargs="?", help="IR with functions of tensors or memrefs; - for the standard input")
    add("--function", metavar="NAME", help="the function to run; all public ones by default")
    add("--input", metavar="FILE", type=Path, action="append", default=[], help=".npy or .npz, one array an argument")
    add("--output", metavar="FILE", type=Path, action="append", default=[], help=".npy or .npz for what is computed")
    add("--target", default="c", help="what to compile for: c (default) or opencl")
    add("--device", metavar="NAME", help="the OpenCL device: its number or a part of its name")
    add("--devices", action="store_true", help="list the OpenCL devices and say which of them work")
    add("--images", action="store_true", help="with --target opencl: image layouts are images of the device")
    add("--threads", metavar="N", type=_count, help="threads of the kernel; 0 for as many as OpenMP chooses")
    add("--repeat", metavar="N", type=_count, help="calls to measure; by default as many as take 0.25 s; 0 for none")
    add(
        "--sizes",
        metavar="N=8,H=56",
        type=_sizes,
        default={},
        help="sizes of unknown dims; else those of --input, or made up",
    )
    add("--seed", metavar="N", type=_count, default=0, help="seed of made data (default 0)")
    add("--no-check", action="store_true", help="do not compare with the interpreter")
    add("--print-c", action="store_true", help="print the C text first")
    add("--explain", action="store_true", help="print the plan of every copy first: boxes, tiles, loops")
    add("--tune", action="store_true", help="measure schedules and take the fastest, now or as the cache has it")
    add("--version", action="version", version=f"layout-run {__version__}")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"expected a number that is not negative, got {number}")
    return number


def _sizes(text: str) -> dict[str, int]:
    from layout_ir.tools.layout_run_sizes import parse_sizes

    try:
        return parse_sizes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _run(options: argparse.Namespace) -> None:
    if options.devices:
        from layout_ir.runtime.opencl_devices import device_report

        print("\n".join(device_report()))
        return
    if options.file is None:
        raise LayoutError("expected a file with IR, or - for the standard input, got none")
    if options.target not in TARGETS:
        suggestion = nearest(options.target, TARGETS)
        raise LayoutError(f"unknown target '{options.target}', expected {' or '.join(TARGETS)}{suggestion}")
    with _progress("reading the module"):
        module = read_module(options.file)
        names = _function_names(module, options)
    from layout_ir.tools.layout_run_sizes import check_names

    _check_target_options(options)
    tuned = _tuned(module, names, options) if options.tune else []
    with _progress("compiling"):
        kernels = [one.kernel() for one in tuned] if options.tune else _compiled(module, names, options)
        check_names(options.sizes, kernels)
    if options.print_c:
        print("\n".join(dict.fromkeys(kernel.source for kernel in kernels)))
    if options.explain:
        from layout_ir.tools.layout_run_schedules import explained

        print(explained(module, tuned, options))
    else:
        print(*tuned, sep="\n", end="\n" if tuned else "")
    for kernel in kernels:
        print(_run_function(module, kernel, options), flush=True)


def _check_target_options(options: argparse.Namespace) -> None:
    """Raise `LayoutError` for an option that the target does not have."""
    if options.target == "c":
        if options.device is not None or options.images:
            raise LayoutError("expected --device and --images with --target opencl alone, got them with --target c")
        return
    if options.threads is not None:
        raise LayoutError("expected --threads with --target c alone, got it with --target opencl")
    if options.explain:
        raise LayoutError(
            "expected --explain with --target c alone, got it with --target opencl; "
            "layout-opt FILE -p layout-lower-device shows the loops of a device"
        )
    if options.tune:
        raise LayoutError("expected --tune with --target c alone, got it with --target opencl")


def _compiled(module: ModuleOp, names: list[str], options: argparse.Namespace) -> Sequence[Kernel]:
    if options.target == "opencl":
        from layout_ir.runtime.opencl import compile_device_functions

        return compile_device_functions(module, names, device=options.device, images=options.images)
    from layout_ir.runtime.module import compile_functions

    return compile_functions(module, names, threads=options.threads)


def _tuned(module: ModuleOp, names: list[str], options: argparse.Namespace) -> list[Tuned]:
    from layout_ir.tools.layout_run_schedules import tuned_function

    tuned: list[Tuned] = []
    for name in names:
        with _progress(f"{name}: measuring schedules"):
            tuned.append(tuned_function(module, name, options))
    return tuned


def read_module(path: Path) -> ModuleOp:
    """The verified module in a file; raises `LayoutError` where it cannot be read."""
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.parser import Parser
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    from layout_ir.runtime.module import brief_message
    from layout_ir.universe import LAYOUT_UNIVERSE

    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected text in UTF-8"
        raise LayoutError(f"cannot read {path}: {reason}") from None
    context = Context()
    known = get_all_dialects()
    for name in DIALECTS:
        context.register_dialect(name, known[name])
    for name, factory in LAYOUT_UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    try:
        module = Parser(context, text, name=str(path)).parse_module()
        module.verify()
    except (ParseError, DiagnosticException) as error:
        raise LayoutError(brief_message(error)) from None
    return module


def _function_names(module: ModuleOp, options: argparse.Namespace) -> list[str]:
    from layout_ir.backends.uses import is_private
    from layout_ir.interpreter.functions import find_function, functions

    if options.function is not None:
        if is_private(find_function(module, options.function)):
            raise LayoutError(f"{options.function}: expected a public function, got a private one")
        return [options.function]
    names = [function.sym_name.data for function in functions(module) if not is_private(function)]
    if not names:
        raise LayoutError(f"{options.file}: expected a public function with a body, got none")
    if len(names) > 1 and (options.input or options.output):
        raise LayoutError(f"expected --function with --input and --output, as there are several: {', '.join(names)}")
    return names


def _run_function(module: ModuleOp, kernel: Kernel, options: argparse.Namespace) -> str:
    from layout_ir.tools.layout_run_files import check_outputs, write_outputs

    check_outputs(options.output, [argument.name for argument in kernel.arguments if argument.is_written])
    with _progress(f"{kernel.name}: reading or making data"):
        job = _job(module, kernel, options)
    expected = None
    if not options.no_check:
        with _progress(f"{kernel.name}: interpreting"):
            expected = job.expected()
    with _progress(f"{kernel.name}: running"):
        job.run()
        if expected is not None:
            job.compare(expected)
            del expected
        write_outputs(options.output, job.outputs())
        return _report(job, options)


def _job(module: ModuleOp, kernel: Kernel, options: argparse.Namespace) -> Job:
    from layout_ir.dialects.known_sizes import with_sizes
    from layout_ir.interpreter.functions import arguments, find_function
    from layout_ir.runtime.sized_kernel import SizedKernel
    from layout_ir.tools.layout_run_files import assign_inputs
    from layout_ir.tools.layout_run_job import Job, prepare_input
    from layout_ir.tools.layout_run_sizes import choose_sizes

    function = find_function(module, kernel.name)
    if not any(argument.is_written for argument in kernel.arguments):
        raise LayoutError(
            f"{kernel.name}: expected a function that writes to a buffer or returns a tensor, got neither"
        )
    needed = [argument.name for argument in kernel.arguments if not argument.is_written]
    accepted = [argument.name for argument in kernel.arguments[: len(function.function_type.inputs)]]
    given = assign_inputs(options.input, needed, accepted) if options.input else dict.fromkeys(needed)
    if isinstance(kernel, SizedKernel):
        sizes = choose_sizes(function, kernel, options.sizes, given)
        module, kernel = with_sizes(module, kernel.name, sizes), kernel.at(sizes)
        function = find_function(module, kernel.name)
    storages: dict[str, Storage] = {storage.name: storage for storage in arguments(function)}
    inputs = {
        name: prepare_input(array, storages[name], options.seed + position, kernel.name)
        for position, (name, array) in enumerate(given.items())
    }
    return Job(module, function, kernel, inputs)


def _report(job: Job, options: argparse.Namespace) -> str:
    from layout_ir.tools.layout_run_job import amount

    read, written = job.traffic()
    parts = [f"{amount(read, 'B')} read + {amount(written, 'B')} written"]
    if options.repeat != 0:
        seconds, runs = job.measure(options.repeat)
        speed = (read + written) / seconds / 1e9
        parts.append(f"{amount(seconds, 's')} (median of {runs}), {speed:.2f} GB/s")
    data = ", ".join(map(str, options.input)) or f"made data (seed {options.seed})"
    verdict = "not checked" if options.no_check else "equals the interpreter"
    return f"{job.kernel.name}: {job.signature()}, {data}: {', '.join(parts)}; {verdict}"


@contextmanager
def _progress(what: str) -> Generator[None]:
    """Say on a terminal what takes its time; the line is gone afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    print(f"\r\033[K{what} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
