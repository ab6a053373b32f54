"""From a name to the name of the same layout in another system, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Sequence

from layout_ir.api import layout as layout_of
from layout_ir.errors import LayoutError, nearest
from layout_ir.explanation.catalogue import (
    PLAIN,
    Related,
    is_same_for_all_shapes,
    is_same_on_shape,
    related_names,
    systems,
    variant,
)
from layout_ir.explanation.subject import Subject
from layout_ir.formats.registry import ALIASES, era
from layout_ir.layouts.element_type import element_type
from layout_ir.layouts.layout import Layout, whole_numbers


def translate(
    name: str | Layout,
    to: str,
    *,
    shape: Sequence[int] | None = None,
    dtype: object = "f32",
    dims: str | None = None,
    groups: int | None = None,
    c0: int | None = None,
    hidden_size: int | None = None,
    input_size: int | None = None,
    strides: Sequence[int] | None = None,
    offset: int | None = None,
) -> str:
    """
    The name that a layout has in the system `to`: `translate("onednn:nChw16c", to="openvino")` is
    `"openvino:b_fs_yx_fsv16"`. `to = "plain"` asks for a dim string without a system.

    Without `shape` the two must be the same for all shapes, which needs layouts that do not depend on the shape; with
    it, the same on that shape, and names that hold for all shapes come first. Dims are matched by what they mean. The
    other options are those of `layout`. Raises `LayoutError`, with the reason and the nearest name, if there is none.
    """
    system = ALIASES.get(to.lower(), to.lower())
    if system not in systems():
        raise LayoutError(f"unknown system '{to}', expected one of {', '.join(systems())}{nearest(to, systems())}")
    source = layout_of(
        name,
        dims=dims,
        groups=groups,
        c0=c0,
        hidden_size=hidden_size,
        input_size=input_size,
        strides=strides,
        offset=offset,
    )
    subject = _subject(source, shape, dtype)
    found = _matches(subject, system)
    listed = [other for other in found if other.is_listed]
    if not listed:
        raise _no_name(subject, system, found)
    return min(listed, key=_preference).name


def _no_name(subject: Subject, system: str, unlisted: list[Related]) -> LayoutError:
    from layout_ir.explanation.difference import reason  # only a refusal pays for the import

    label = "plain dim strings" if system == PLAIN else system
    text = f"{subject.name} has no name in {label}: {reason(subject, system, label)}"
    if unlisted:
        text += f"; its grammar would call it {unlisted[0].name}, which no release lists"
    return LayoutError(text)


def _subject(source: Layout, shape: Sequence[int] | None, dtype: object) -> Subject:
    kind = element_type(dtype)
    if shape is not None:
        sizes = whole_numbers(shape, "expected a shape")
        result = Subject(variant(source, len(sizes)), len(sizes), kind, sizes)
        _ = result.index_map  # a shape that does not fit is refused here
        return result
    if source.rank is None:
        raise LayoutError(f"{source} takes tensors of several ranks; expected shape=(...)")
    result = Subject(source, source.rank, kind)
    if result.fixed is None:
        raise LayoutError(
            f"{result.name} depends on the shape, so it is not known to be another name's equal for all shapes; "
            "expected shape=(...)"
        )
    return result


def _matches(subject: Subject, system: str) -> list[Related]:
    related = list(related_names(subject, system))
    always = [other for other in related if is_same_for_all_shapes(subject, other)]
    if always or subject.shape is None:
        return always
    return [other for other in related if is_same_on_shape(subject, other)]


def _preference(related: Related) -> tuple[bool, bool]:
    """Names whose dims were matched by meaning, and of those the ones that are still in use; then the listed order."""
    found = era(related.name)
    return not related.is_named, found is not None and found.has_gone
