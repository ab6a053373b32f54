"""Why a layout has no name in a system: what every format of that system does differently, and which is nearest."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher

from layout_ir.explanation.catalogue import Related, fixed_related, form, related_map, related_names
from layout_ir.explanation.subject import Subject
from layout_ir.layouts.proof import equality
from layout_ir.layouts.proof_shapes import CanonicalForm, Digit, equality_for_all_shapes
from layout_ir.layouts.strided import StridedLayout
from layout_ir.layouts.tiled import TiledLayout


def reason(subject: Subject, system: str, label: str) -> str:
    """Why `system` has no name for the subject's layout, in words, with the nearest name that it has."""
    related = [other for other in related_names(subject, system) if other.is_listed]
    if not related:
        return f"{label} has no format over the dims {', '.join(subject.dims)}"
    if isinstance(subject.fixed, StridedLayout):
        return f"{label} has no name for explicit strides"
    if subject.fixed is None:
        return _on_shape(subject, related, label)
    structured = [(other, f) for other in related if isinstance(f := _form(subject, other), CanonicalForm)]
    if not structured:
        return f"every format of {label} over the dims {', '.join(subject.dims)} depends on the shape; give shape=(...)"
    wanted = form(subject.fixed)
    assert isinstance(wanted, CanonicalForm)
    text = _structural(subject, wanted, [other for _, other in structured], label)
    nearest, _ = max(structured, key=lambda pair: _likeness(wanted, pair[1]))
    left_out = len({other.name for other in related}) - len({other.name for other, _ in structured})
    note = f"; {left_out} formats that depend on the shape were left out, give shape=(...)" if left_out else ""
    return f"{text}; nearest is {nearest.name}{_difference(subject, nearest)}{note}"


def _form(subject: Subject, other: Related) -> CanonicalForm | StridedLayout | None:
    explicit = fixed_related(subject, other)
    return None if explicit is None else form(explicit)


def _structural(subject: Subject, wanted: CanonicalForm, others: list[CanonicalForm], label: str) -> str:
    if all(other.is_image != wanted.is_image for other in others):
        return f"{subject.name} is {'an image' if wanted.is_image else 'a buffer'}, and no format of {label} is"
    if others_of_kind := [other for other in others if other.is_image == wanted.is_image]:
        others = others_of_kind
    for dim, name in enumerate(subject.dims):
        blocks = _blocks(wanted, dim)
        if all(_blocks(other, dim) != blocks for other in others):
            how = f"blocks {name} by {' x '.join(map(str, blocks))}" if blocks else f"leaves {name} unblocked"
            return f"{label} has no format that {how}"
        if all(other.rounding[dim] != wanted.rounding[dim] for other in others):
            units = " and then ".join(map(str, wanted.rounding[dim]))
            how = f"rounds {name} up to {units}" if units else f"leaves {name} as long as it is"
            return f"{label} has no format that {how}"
    dims = range(len(subject.dims))
    inner = [_blocks(wanted, dim) for dim in dims]
    if all([_blocks(other, dim) for dim in dims] != inner for other in others):
        blocks = [f"{n} by {' x '.join(map(str, b))}" for n, b in zip(subject.dims, inner, strict=True) if b]
        plain = [name for name, b in zip(subject.dims, inner, strict=True) if not b]
        left = f" and leaves {', '.join(plain)} unblocked" if plain else ""
        return f"{label} has no format that blocks {' and '.join(blocks)}{left}"
    return f"{label} has no format that stores these blocks in the same order"


def _blocks(canonical: CanonicalForm, dim: int) -> tuple[int, ...]:
    """The inner blocks of a dim, outermost first."""
    digits = [axis for axis in canonical.axes if isinstance(axis, Digit) and axis.dim == dim]
    return tuple(digit.modulus for digit in digits if digit.modulus is not None)


def _likeness(left: CanonicalForm, right: CanonicalForm) -> tuple[float, float]:
    """How much of two orders is the same: the axes in sequence, then the block sizes of every dim."""
    sequence = SequenceMatcher(None, [str(axis) for axis in left.axes], [str(axis) for axis in right.axes]).ratio()
    order = SequenceMatcher(None, [_dim(axis) for axis in left.axes], [_dim(axis) for axis in right.axes]).ratio()
    blocks = Counter(map(str, left.axes)) & Counter(map(str, right.axes))
    return sequence + order, blocks.total()


def _dim(axis: object) -> int:
    return axis.dim if isinstance(axis, Digit) else -1


def _difference(subject: Subject, nearest: Related) -> str:
    """The nearest name's first element that lies elsewhere."""
    explicit = fixed_related(subject, nearest)
    if explicit is None or not isinstance(subject.fixed, TiledLayout):
        return ""
    found = equality_for_all_shapes(subject.fixed, explicit)
    return f" ({found.difference})" if found.difference else ""


def _on_shape(subject: Subject, related: list[Related], label: str) -> str:
    maps = [(other, index_map) for other in related if (index_map := related_map(subject, other)) is not None]
    shape = list(subject.shape or ())
    if not maps:
        return f"no format of {label} over the dims {', '.join(subject.dims)} takes the shape {shape}"
    wanted = subject.index_map
    kind = [pair for pair in maps if pair[1].is_image == wanted.is_image]
    if not kind:
        return f"{subject.name} is {'an image' if wanted.is_image else 'a buffer'}, and no format of {label} is"
    same_size = [pair for pair in kind if pair[1].storage_size == wanted.storage_size] or kind
    nearest, index_map = max(same_size, key=lambda pair: equality(wanted, pair[1]).index or ())
    return (
        f"{label} has no format that puts every element of {shape} into the same place; "
        f"nearest is {nearest.name} ({equality(wanted, index_map).difference})"
    )
