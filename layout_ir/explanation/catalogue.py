"""All known names, and which of them denote the same function as a layout: on one shape, or on all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from layout_ir.errors import LayoutError
from layout_ir.explanation.roles import matching, readings
from layout_ir.explanation.spelling import is_open, spelled_names
from layout_ir.explanation.structure import fixed_layout, permuted_layout, permuted_map
from layout_ir.explanation.subject import Subject
from layout_ir.formats.format import ExplicitLayout, Format
from layout_ir.formats.registry import SYSTEMS, formats, parse_format
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout
from layout_ir.layouts.proof import equality
from layout_ir.layouts.proof_shapes import CanonicalForm, canonical_form
from layout_ir.layouts.strided import StridedLayout

PLAIN = "plain"
"""How dim strings without a system are called where a system is asked for."""

_VARIANTS = {"mace": {"NHWC": 4, "NHW": 3, "NC": 2}}
"""Dims of names that stand for tensors of several ranks."""


@dataclass(frozen=True)
class Entry:
    """A name that can be parsed without options, other than the names of its own dims."""

    name: str
    layout: Format


@dataclass(frozen=True)
class Related:
    """A name whose dims mean the same as those of the layout that is asked about."""

    name: str
    layout: Format

    dims: tuple[int, ...]
    """For every dim of the name the dim of the layout that is asked about."""

    is_named: bool
    """Whether the dims were matched by what they mean and not by position."""

    is_listed: bool
    """Whether the system has this name; if not, its grammar explains it but no release lists it."""

    @property
    def order(self) -> str:
        """The name's own dims in the order that the question gives them, e.g. `bfyx`; empty where it has none."""
        names = self.layout.dims
        if names is None:
            return ""
        return ",".join(names[self.dims.index(dim)] for dim in range(len(self.dims)))


def systems() -> tuple[str, ...]:
    """All systems, plain dim strings included."""
    return (PLAIN, *SYSTEMS)


@lru_cache(maxsize=64)
def _entries(system: str) -> tuple[Entry, ...]:
    names = [n for n in formats() if ":" not in n] if system == PLAIN else formats(system)
    return tuple(entry for name in names if (entry := _entry(name)) is not None)


def _entry(name: str) -> Entry | None:
    try:
        return Entry(name, parse_format(name))
    except LayoutError:
        return None


def variant(layout: Layout, rank: int) -> Layout:
    """A layout whose name stands for tensors of several ranks, as the one of `rank`, whose dims have names."""
    if isinstance(layout, Format) and layout.dims is None and layout.options.dims is None:
        for dims, variant_rank in _VARIANTS.get(layout.system, {}).items():
            if variant_rank == rank:
                return parse_format(layout.qualified_name, replace(layout.options, dims=dims))
    return layout


def _fitting(entry: Entry, rank: int) -> Format | None:
    """The format of an entry for tensors of one rank, or None."""
    try:
        layout = variant(entry.layout, rank)
    except LayoutError:
        return None
    return layout if isinstance(layout, Format) and layout.rank in (None, rank) else None


def related_names(subject: Subject, system: str) -> Iterator[Related]:
    """The names of a system whose dims mean the same as the subject's, listed ones first."""
    listed = _entries(system)
    known = {entry.name for entry in listed}
    spelled = [entry for name in spelled_names(subject, system) if name not in known and (entry := _entry(name))]
    for entry in (*listed, *spelled):
        is_listed = entry.name in known or is_open(entry.name)
        layout = _fitting(entry, subject.rank)
        if layout is None:
            continue
        for wanted in subject.readings:
            for given in readings(layout, subject.rank):
                dims = matching(wanted, given, subject.rank)
                if dims is not None:
                    is_named = given is not None and wanted is not None
                    yield Related(entry.name, layout, dims, is_named, is_listed)


def fixed_related(subject: Subject, related: Related) -> ExplicitLayout | None:
    """The layout of a name for all shapes, over the subject's dims; None where it depends on the shape."""
    explicit = fixed_layout(related.layout, subject.rank, subject.dtype)
    return None if explicit is None else permuted_layout(explicit, related.dims)


def form(layout: ExplicitLayout) -> CanonicalForm | StridedLayout:
    """What two layouts that agree on all shapes have in common."""
    return layout if isinstance(layout, StridedLayout) else canonical_form(layout)


def is_same_for_all_shapes(subject: Subject, related: Related) -> bool:
    """Whether a name denotes the subject's function on every shape, as far as their structures say."""
    if subject.fixed is None:
        return False
    explicit = fixed_related(subject, related)
    return explicit is not None and form(explicit) == form(subject.fixed)


def related_map(subject: Subject, related: Related) -> IndexMap | None:
    """The map of a name on the subject's shape, over the subject's dims; None where the name does not fit."""
    assert subject.shape is not None
    try:
        index_map = related.layout.index_map([subject.shape[dim] for dim in related.dims], subject.dtype)
    except LayoutError:
        return None
    return permuted_map(index_map, related.dims)


def is_same_on_shape(subject: Subject, related: Related) -> bool:
    """Whether a name denotes the subject's function on the subject's shape; proved, not sampled."""
    other = related_map(subject, related)
    if other is None or not _may_be_equal(subject.index_map, other):
        return False
    try:
        return bool(equality(subject.index_map, other))
    except LayoutError:  # too entangled to decide: nothing is claimed
        return False


def _may_be_equal(left: IndexMap, right: IndexMap) -> bool:
    if left.storage_size != right.storage_size or left.is_image != right.is_image:
        return False
    return left.size == 0 or all(_offset(left, index) == _offset(right, index) for index in _probes(left.shape))


def _probes(shape: Sequence[int]) -> Iterator[list[int]]:
    yield [size - 1 for size in shape]
    for dim, size in enumerate(shape):
        yield [size // 2 if other == dim else 0 for other in range(len(shape))]


def _offset(index_map: IndexMap, index: list[int]) -> int:
    return index_map.offset + sum(
        expr.eval(index, []) * stride for expr, stride in zip(index_map.coordinates, index_map.strides, strict=True)
    )
