"""The order of a storage in words: `batch (n), then blocks of 16 channels (c), then rows (h), ...`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from layout_ir.explanation.subject import Subject
from layout_ir.layouts.affine_text import affine_text
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.proof_shapes import Digit, digit_of

_IMAGE_AXES = ("row", "column", "lane")


def storage_order(subject: Subject) -> str:
    """The axes of the subject's storage in words, slowest first, with what is padded or has gaps."""
    index_map = subject.index_map
    axes = [_axis(subject, expr) for expr in index_map.coordinates]
    if index_map.is_image:
        text = "; ".join(f"{place}: {axis}" for place, axis in zip(_IMAGE_AXES, axes, strict=True))
    elif index_map.is_dense:
        text = ", then ".join(axes) or "a single element"
    else:
        text = ", ".join(f"{axis} with a stride of {s}" for axis, s in zip(axes, index_map.strides, strict=True))
        text += f", from offset {index_map.offset}" if index_map.offset else ""
    padded = [
        f"{name} from {size} to {whole}"
        for name, size, whole in zip(subject.dims, index_map.shape, index_map.padded_shape, strict=True)
        if whole > size
    ]
    return f"{text}; padded: {', '.join(padded)}" if padded else text


def _axis(subject: Subject, expr: AffineExpr) -> str:
    digit = digit_of(expr)
    if digit is None:
        if isinstance(expr, AffineConstantExpr):
            return f"always {expr.value}"
        return affine_text(expr, lambda dim: subject.dims[dim])
    noun, dim = subject.nouns[digit.dim], subject.dims[digit.dim]
    return _digit(digit, noun if noun == dim else f"{noun} ({dim})", noun)


def _digit(digit: Digit, full: str, noun: str) -> str:
    if digit.modulus is None:
        return full if digit.divisor == 1 else f"blocks of {digit.divisor} {full}"
    if digit.divisor == 1:
        return f"{digit.modulus} {noun} of a block"
    return f"{digit.modulus} blocks of {digit.divisor} {noun}"


def map_text(index_map: IndexMap, dims: Sequence[str]) -> str:
    """The coordinates as a function of the dims: `(n, c, h, w) -> (n, c floordiv 16, h, w, c mod 16)`."""
    coordinates = ", ".join(affine_text(expr, lambda dim: dims[dim]) for expr in index_map.coordinates)
    return f"({', '.join(dims)}) -> ({coordinates})"
