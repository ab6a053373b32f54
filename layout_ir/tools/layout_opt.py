"""
`layout-opt`: reads IR, runs passes, prints IR or a target's text.

It is xDSL's driver with the dialect, the passes and the targets of this project, installed or not, and with one clear
message instead of a traceback where the user's input, options or files are at fault.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import IO, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError, UnregisteredConstructException
from xdsl.xdsl_opt_main import xDSLOptMain

from layout_ir._version import __version__
from layout_ir.errors import LayoutError, nearest
from layout_ir.universe import LAYOUT_UNIVERSE

USER_ERRORS = (ParseError, DiagnosticException, UnregisteredConstructException, LayoutError)
"""What is the input's fault, or the file system's; everything else is a defect and keeps its traceback."""


class PendingOutput(StringIO):
    """Text that becomes a file once everything went well, so that no error leaves half a file behind."""

    text: str = ""

    def close(self) -> None:
        if not self.closed:
            self.text = self.getvalue()
        super().close()


class LayoutOptMain(xDSLOptMain):
    """The driver. Raises `LayoutError` for names and options on the command line that do not exist."""

    version_format: ClassVar[str] = f"layout-opt {__version__}, built on xDSL {{xdsl_version}}"

    def __init__(self, args: Sequence[str] | None = None):
        self._given = sys.argv[1:] if args is None else args
        self._pending: PendingOutput | None = None
        super().__init__("layout-opt: passes and targets for tensor memory layouts", self._given)

    # -- registration: what xDSL's plug-in mechanism has not already brought -------------------------------------------

    def register_all_dialects(self) -> None:
        super().register_all_dialects()
        for name, factory in LAYOUT_UNIVERSE.all_dialects.items():
            if name not in self.ctx.registered_dialect_names:
                self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.available_passes = LAYOUT_UNIVERSE.all_passes | self.available_passes

    def register_all_targets(self) -> None:
        super().register_all_targets()
        self.available_targets = LAYOUT_UNIVERSE.all_targets | self.available_targets

    # -- names and options on the command line -------------------------------------------------------------------------

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        # xDSL checks the target itself, but lists all of them instead of the nearest
        target_only = argparse.ArgumentParser(add_help=False)
        target_only.add_argument("-t", "--target", default="mlir")
        self._check_target(target_only.parse_known_args(self._given)[0].target)

    def _check_target(self, text: str) -> None:
        try:
            spec = parse_spec(text)
            _check_names("target", [spec.name], self.available_targets, LAYOUT_UNIVERSE.all_targets)
            if spec.name in LAYOUT_UNIVERSE.all_targets:  # before passes run for nothing
                LAYOUT_UNIVERSE.all_targets[spec.name]().from_spec(spec)
        except (ValueError, ArgSpecParseError) as error:
            if isinstance(error, LayoutError):
                raise
            raise LayoutError(f"-t {text}: {error}") from error

    def setup_pipeline(self) -> None:
        try:
            names = [spec.name for spec in parse_pipeline(self.args.passes)]
            _check_names("pass", names, self.available_passes, LAYOUT_UNIVERSE.all_passes)
            super().setup_pipeline()
        except (ValueError, ArgSpecParseError) as error:
            if isinstance(error, LayoutError):
                raise
            raise LayoutError(f"-p {self.args.passes}: {error}") from error

    # -- files ---------------------------------------------------------------------------------------------------------

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        try:
            return super().prepare_input()
        except ValueError as error:
            endings = ", ".join(f".{ending}" for ending in self.available_frontends)
            raise LayoutError(f"{self.args.input_file}: {error}, expected one of {endings}") from error

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp | None:
        try:
            return super().parse_chunk(chunk, file_extension, start_offset)
        except UnicodeDecodeError as error:
            raise LayoutError(f"{self.get_input_name()}: expected text in UTF-8: {error}") from error

    def prepare_output(self) -> IO[str]:
        if self.args.output_file is None:
            return sys.stdout
        self._pending = PendingOutput()
        return self._pending

    def run(self) -> None:
        super().run()
        if self._pending is not None:
            with open(self.args.output_file, "w", encoding="utf-8") as file:
                file.write(self._pending.text)


def _check_names(kind: str, names: Iterable[str], known: Iterable[str], ours: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            expected = f"expected one of xDSL's or of {', '.join(ours)}"
            raise LayoutError(f"unknown {kind} '{name}', {expected}{nearest(name, known)}")


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status: 0, or 1 after one message on stderr."""
    try:
        LayoutOptMain(args).run()
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 1
    except OSError as error:
        print(f"layout-opt: cannot open {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except USER_ERRORS as error:
        notes = getattr(error, "__notes__", ())
        print("layout-opt: " + "\n".join([str(error), *notes]), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
