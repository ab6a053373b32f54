"""
`layout-explain`: what a layout does with a tensor, in words and numbers, and what other systems call it.

    $ layout-explain onednn:nChw16c --shape 1,3,224,224 --dtype f32
    $ layout-explain onednn:nChw16c --to openvino
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from layout_ir._version import __version__
from layout_ir.errors import LayoutError


def main(args: Sequence[str] | None = None) -> int:
    """Run the tool; returns the exit status: 0, or 1 after one message on stderr."""
    options = _parser().parse_args(args)
    try:
        print(_answer(options))
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return 130
    except LayoutError as error:
        print(f"layout-explain: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "layout-explain",
        description="Say what a layout does with a tensor, and what the same layout is called in other systems.",
    )
    add = parser.add_argument
    add("name", help="a layout: onednn:nChw16c, NHWC, '(d0, d1) -> (d1, d0)', 'strided<[8, 1]>'")
    add("--shape", metavar="N,N,...", type=_numbers, help="extents of the logical dims")
    add("--dtype", default="f32", help="element type: f32 (default), f16, bf16, i8, u8, u4, u1, ...")
    add("--to", metavar="SYSTEM", help="print the layout's name in another system (plain: a dim string)")
    add("--element", metavar="I,I,...", type=_numbers, help="the index whose offset is worked out; the last by default")
    add("--dims", help="the order in which the logical dims are given, such as HWCN")
    add("--groups", metavar="N", type=int, help="groups of a convolution's weights")
    add("--c0", metavar="N", type=int, help="channels in one block, where the name leaves it open")
    add("--hidden-size", metavar="N", type=int, help="hidden size of a recurrent cell")
    add("--input-size", metavar="N", type=int, help="input size of a recurrent cell")
    add("--strides", metavar="N,N,...", type=_numbers, help="strides in elements, of names that take them")
    add("--offset", metavar="N", type=int, help="offset of the first element, with --strides")
    add("--version", action="version", version=f"layout-explain {__version__}")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected whole numbers with commas, got '{text}'") from None


def _answer(options: argparse.Namespace) -> str:
    names = ("dims", "groups", "c0", "hidden_size", "input_size", "strides", "offset")
    given = {name: getattr(options, name) for name in names}
    if options.to is not None:
        from layout_ir.explanation.translate import translate

        if options.element is not None:
            raise LayoutError("expected --element without --to, which prints only a name")
        return translate(options.name, options.to, shape=options.shape, dtype=options.dtype, **given)
    if options.shape is None:
        raise LayoutError(
            "expected --shape (extents of the tensor), or --to (a system) for the name alone; got neither"
        )
    from layout_ir.explanation.explain import explain

    return str(explain(options.name, options.shape, options.dtype, element=options.element, **given))


if __name__ == "__main__":
    sys.exit(main())
