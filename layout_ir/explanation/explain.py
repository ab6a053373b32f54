"""What a layout does with one tensor, for people: order, sizes, one offset worked out, and its names elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layout_ir.api import layout as layout_of
from layout_ir.errors import LayoutError
from layout_ir.explanation.catalogue import (
    Related,
    is_same_for_all_shapes,
    is_same_on_shape,
    related_names,
    systems,
    variant,
)
from layout_ir.explanation.subject import Subject
from layout_ir.explanation.words import map_text, storage_order
from layout_ir.formats.era import Era
from layout_ir.formats.format import Format
from layout_ir.formats.registry import era
from layout_ir.layouts.element_type import ElementType, element_type
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.layout import Layout, whole_numbers


@dataclass(frozen=True)
class SameName:
    """A name that denotes the same function as the layout that was asked about."""

    name: str
    for_all_shapes: bool
    """Whether it does on every shape, and not only on the one that was asked about."""

    dims: str
    """The name's own dims in the order of the question, as `b,f,y,x`; empty where it does not name them."""

    is_listed: bool = True
    """Whether the system has the name; if not, its grammar explains it but no release lists it."""

    until: str | None = None
    """The last release that has the name, of one that went away."""

    def __str__(self) -> str:
        notes = [self.dims] * bool(self.dims) + ["not listed"] * (not self.is_listed)
        notes += [f"until {self.until}"] * bool(self.until)
        return f"{self.name} ({'; '.join(notes)})" if notes else self.name


@dataclass(frozen=True)
class Example:
    """One element and its place."""

    index: tuple[int, ...]
    coordinate: tuple[int, ...]
    """On the storage's axes, outermost first."""
    offset: int
    """In elements."""


@dataclass(frozen=True)
class Explanation:
    """What a layout does with one tensor. `str` of it is the text that `layout-explain` prints."""

    name: str
    dims: tuple[str, ...]
    """Names of the logical dims in the order of `shape`."""

    shape: tuple[int, ...]
    dtype: ElementType

    order: str
    """The storage's axes in words, slowest first."""

    index_map: IndexMap
    example: Example | None
    """None for an empty tensor."""

    same: tuple[SameName, ...]
    """Every known name that denotes the same function on this shape, in the registry's order."""

    era: Era | None = None
    """The releases in which the name means this, where its system records them."""

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """Shape of an array that holds the storage."""
        return self.index_map.storage_shape

    @property
    def bytes(self) -> int:
        """Size of the storage in bytes, pads and gaps included; elements of less than a byte are packed."""
        return -(-self.index_map.storage_size * self.dtype.bits // 8)

    @property
    def pad_share(self) -> float:
        """Share of the storage that holds no element, from 0 to 1."""
        size = self.index_map.storage_size
        return 0.0 if self.index_map.has_broadcast or not size else 1 - self.index_map.size / size

    def __str__(self) -> str:
        sizes = " ".join(f"{dim}={size}" for dim, size in zip(self.dims, self.shape, strict=True))
        rows = [
            ("order", self.order),
            ("map", map_text(self.index_map, self.dims)),
            ("storage", self._storage()),
            ("example", self._example()),
            *([("releases", str(self.era))] if self.era and str(self.era) else []),
            *self._names(),
        ]
        return "\n".join([f"{self.name} of {sizes or 'a scalar'}, {self.dtype}", *(f"  {a:<9}{b}" for a, b in rows)])

    def _storage(self) -> str:
        index_map = self.index_map
        shape = " x ".join(map(str, self.storage_shape)) or "1"
        image = "an image of {} x {} pixels, ".format(*index_map.image_size) if index_map.is_image else ""
        empty = "gaps and pads" if not index_map.is_dense else "pads"
        share = f"{self.pad_share:.1%} {empty}" if self.pad_share else f"no {empty}"
        size = f"{self.bytes} byte{'s' * (self.bytes != 1)}"
        return f"{image}{shape} = {index_map.storage_size} elements, {size}, {share}"

    def _example(self) -> str:
        if self.example is None:
            return "no element"
        index = " ".join(f"{dim}={value}" for dim, value in zip(self.dims, self.example.index, strict=True))
        steps = zip(self.example.coordinate, self.index_map.strides, strict=True)
        terms = " + ".join(f"{value}*{stride}" for value, stride in steps)
        start = f"{self.index_map.offset} + " if self.index_map.offset else ""
        return f"{index or 'the element'} lies at ({', '.join(map(str, self.example.coordinate))}): " + (
            f"{start}{terms or 0} = {self.example.offset}"
        )

    def _names(self) -> list[tuple[str, str]]:
        rows: list[tuple[str, str]] = []
        for label, for_all in (("always", True), ("here", False)):
            names = [str(same) for same in self.same if same.for_all_shapes == for_all]
            scope = "the same for all shapes" if for_all else "the same for this shape"
            rows += [(label, f"{scope}: {', '.join(names)}")] if names else []
        return rows or [("names", "no other known name denotes it")]


def explain(
    layout: str | Layout,
    shape: Sequence[int],
    dtype: object = "f32",
    *,
    element: Sequence[int] | None = None,
    dims: str | None = None,
    groups: int | None = None,
    c0: int | None = None,
    hidden_size: int | None = None,
    input_size: int | None = None,
    strides: Sequence[int] | None = None,
    offset: int | None = None,
) -> Explanation:
    """
    What a layout does with a tensor of `shape` and `dtype`, and its names in all systems.

    `layout`, `dims`, `groups`, ...: as in `layout`. `element`: the index whose offset is worked out, the last one by
    default. Two names are the same where they put every element into the same place of storages of one size; dims are
    matched by what they mean (`b` is `n`, `f` is `c`). Raises `LayoutError` where the layout does not fit the shape.
    """
    subject_layout = layout_of(
        layout,
        dims=dims,
        groups=groups,
        c0=c0,
        hidden_size=hidden_size,
        input_size=input_size,
        strides=strides,
        offset=offset,
    )
    sizes, kind = whole_numbers(shape, "expected a shape"), element_type(dtype)
    subject = Subject(variant(subject_layout, len(sizes)), len(sizes), kind, sizes)
    index_map = subject.index_map
    return Explanation(
        subject.name,
        subject.dims,
        sizes,
        kind,
        storage_order(subject),
        index_map,
        _worked_example(subject, element),
        tuple(same_names(subject)),
        era(subject.name) if isinstance(subject.layout, Format) else None,
    )


def _worked_example(subject: Subject, element: Sequence[int] | None) -> Example | None:
    index_map = subject.index_map
    if element is None and index_map.size == 0:
        return None
    index = tuple(size - 1 for size in index_map.shape) if element is None else tuple(int(i) for i in element)
    try:
        place = index_map(*index)
    except LayoutError as error:
        raise LayoutError(f"element of {subject.name}: {error}") from None
    return Example(index, index_map.coordinate(*index), place)


def same_names(subject: Subject) -> list[SameName]:
    """Every known name of every system that denotes the subject's function on its shape."""
    result: dict[str, SameName] = {}
    for system in systems():
        for related in related_names(subject, system):
            found = _same(subject, related)
            known = result.get(related.name)
            if found is not None and (known is None or (found.for_all_shapes and not known.for_all_shapes)):
                result[related.name] = found
    return [same for name, same in result.items() if name != subject.name]


def _same(subject: Subject, related: Related) -> SameName | None:
    for_all = is_same_for_all_shapes(subject, related)
    if for_all or is_same_on_shape(subject, related):
        found = era(related.name)
        return SameName(related.name, for_all, related.order, related.is_listed, found.until if found else None)
    return None
