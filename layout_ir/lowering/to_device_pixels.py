"""One copy to or from an image as a loop over pixels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from layout_ir.dialects.attributes import UndefAttr
from layout_ir.dialects.ops import CopyOp, StorageOp
from layout_ir.dialects.types import index_map_of, is_buffer, stored_type
from layout_ir.errors import LayoutError
from layout_ir.layouts import affine
from layout_ir.layouts.index_map import IndexMap
from layout_ir.layouts.inverse import Condition, Inverse, inverse
from layout_ir.layouts.tiled import IMAGE_LANES
from layout_ir.lowering.to_device_builder import ParallelBuilder
from layout_ir.lowering.to_device_image_type import GLOBAL_SPACE
from layout_ir.lowering.to_loops import flat_type, pad_constant, storage_element_type

_PREDICATES = {"<": "slt", ">=": "sge", "==": "eq"}


@dataclass(frozen=True)
class Lane:
    """What one lane of the pixel (d0, d1) = (row, column) holds."""

    indices: tuple[AffineExpr, ...]
    """The logical index, over row and column."""

    conditions: tuple[Condition, ...]
    """Together false where the lane is a pad."""

    is_pad: bool = False
    """Whether it is one in every pixel."""


def emit_pixel_copy(builder: ParallelBuilder, copy: CopyOp) -> bool:
    """
    The loops of a copy with an image on one side or both; False where no formula says which elements a pixel holds.

    Pixels are written whole, so that a copy into an image must set its pads.
    """
    source, destination = index_map_of(copy.source.type), index_map_of(copy.destination.type)
    pixels = _Pixels(builder, copy)
    if pixels.is_image(copy.destination) != pixels.is_image(copy.source) and source == destination:
        pixels.copy_whole(source)
        return True
    into = pixels.is_image(copy.destination)
    lanes = _lanes(destination if into else source)
    if lanes is None or not (into or _is_filled_at_once(destination)):
        return False
    if into:
        pixels.gather(lanes, source, destination)
    else:
        pixels.scatter(lanes, source, destination)
    return True


def _is_filled_at_once(destination: IndexMap) -> bool:
    """Whether a loop over the storage of a buffer writes its pads, elements to come, and nothing else."""
    return not destination.pad_count or destination.cell_count == destination.required_size


def _lanes(image: IndexMap) -> list[Lane] | None:
    """The lanes of an image's pixel; None where no formula says what they hold."""
    try:
        inverted = inverse(image)
    except LayoutError:
        return None
    if inverted.indices is None:
        return None
    width, height = image.image_size
    lanes = [_lane(inverted, inverted.indices, lane, (height, width)) for lane in range(IMAGE_LANES)]
    return lanes if all(_is_printable(lane, (height, width)) for lane in lanes) else None


def _lane(inverted: Inverse, indices: Sequence[AffineExpr], lane: int, sizes: tuple[int, int]) -> Lane:
    values = (AffineExpr.dimension(0), AffineExpr.dimension(1), AffineConstantExpr(lane))

    def at_lane(expr: AffineExpr) -> AffineExpr:
        return affine.simplify(affine.substitute(expr, values), sizes)

    conditions: list[Condition] = []
    for condition in inverted.conditions:
        fixed = Condition(at_lane(condition.left), condition.relation, at_lane(condition.right))
        known = _truth(fixed, sizes)
        if known is False:
            return Lane((), (), is_pad=True)
        if known is None:
            conditions.append(fixed)
    return Lane(tuple(map(at_lane, indices)), tuple(conditions))


def _truth(condition: Condition, sizes: Sequence[int]) -> bool | None:
    """Whether a condition holds in every pixel (True) or in none (False)."""
    low, high = affine.bounds(condition.left, sizes)
    other_low, other_high = affine.bounds(condition.right, sizes)
    match condition.relation:
        case "<":
            return True if high < other_low else False if low >= other_high else None
        case ">=":
            return True if low >= other_high else False if high < other_low else None
        case "==":
            if low == high == other_low == other_high:
                return True
            return False if high < other_low or low > other_high else None


def _is_printable(lane: Lane, sizes: Sequence[int]) -> bool:
    """Whether nothing negative is divided, which C does in its own way."""
    sides = [side for condition in lane.conditions for side in (condition.left, condition.right)]
    for expr in (*lane.indices, *sides):
        for node in expr.dfs():
            match node:
                case AffineBinaryOpExpr(kind=affine.FLOORDIV | affine.MOD, lhs=dividend):
                    if affine.bounds(dividend, sizes)[0] < 0:
                        return False
                case _:
                    pass
    return True


class _Pixels:
    """Emits the loops of one copy."""

    def __init__(self, builder: ParallelBuilder, copy: CopyOp) -> None:
        self._builder = builder
        self._copy = copy
        kind = stored_type(copy.destination.type)
        self._element = storage_element_type(kind.element_type)
        pad = None if isinstance(copy.pad, UndefAttr) else copy.pad
        self._pad = builder.scalar(pad_constant(kind.element_type, pad))
        self._read: dict[tuple[AffineExpr, AffineExpr, tuple[Condition, ...]], SSAValue] = {}

    @staticmethod
    def is_image(value: SSAValue) -> bool:
        """Whether a side of the copy becomes an image."""
        kind = value.type
        return is_buffer(kind) and kind.memory_space != GLOBAL_SPACE and index_map_of(kind).is_image

    def copy_whole(self, index_map: IndexMap) -> None:
        """Pixels from or to a buffer of the same layout, [row][column][lane]."""
        width, height = index_map.image_size
        source, destination = self._copy.source, self._copy.destination
        with ExitStack() as stack:
            pixel = self._builder.parallel(stack, [height, width], ["y", "x"])
            place = [*pixel, self._builder.constant(0)]
            row, column = AffineExpr.dimension(0), AffineExpr.dimension(1)
            flat = [self._builder.index((row * width + column) * IMAGE_LANES, pixel)]
            kind = VectorType(self._element, [IMAGE_LANES])
            if self.is_image(source):
                load = vector.LoadOp(source, place, kind)
                store = vector.StoreOp(load.result, self._storage(destination), flat)
            else:
                load = vector.LoadOp(self._storage(source), flat, kind)
                store = vector.StoreOp(load.result, destination, place)
            self._builder.insert(load)
            self._builder.insert(store)

    def gather(self, lanes: Sequence[Lane], source: IndexMap, destination: IndexMap) -> None:
        """Into an image: every pixel collects its lanes."""
        width, height = destination.image_size
        flat = None if self.is_image(self._copy.source) else self._storage(self._copy.source)
        with ExitStack() as stack:
            pixel = self._builder.parallel(stack, [height, width], ["y", "x"])
            values: list[SSAValue] = []
            for lane in lanes:
                if lane.is_pad:
                    values.append(self._pad)
                elif flat is not None:
                    place = _over_pixel(source.linear, lane, (height, width))
                    index, condition = self._builder.index(place, pixel), self._condition(lane, pixel)
                    values.append(self._builder.load_or(condition, flat, index, self._pad))
                else:
                    values.append(self._lane_of(source, lane, pixel, (height, width)))
            self._builder.insert(
                vector.StoreOp(self._pixel(values), self._copy.destination, [*pixel, self._builder.constant(0)])
            )

    def scatter(self, lanes: Sequence[Lane], source: IndexMap, destination: IndexMap) -> None:
        """Out of an image: every pixel spreads its lanes, after the pads have been written."""
        flat = self._storage(self._copy.destination)
        if destination.pad_count and not isinstance(self._copy.pad, UndefAttr):
            with ExitStack() as stack:
                (cell,) = self._builder.parallel(stack, [destination.required_size], ["cell"])
                self._builder.store(self._pad, flat, cell)
        width, height = source.image_size
        with ExitStack() as stack:
            pixel = self._builder.parallel(stack, [height, width], ["y", "x"])
            place = [*pixel, self._builder.constant(0)]
            load = vector.LoadOp(self._copy.source, place, VectorType(self._element, [IMAGE_LANES]))
            self._builder.insert(load)
            for position, lane in enumerate(lanes):
                if lane.is_pad:
                    continue
                with self._builder.when(self._condition(lane, pixel)):
                    value = self._extract(load.result, position)
                    offset = _over_pixel(destination.linear, lane, (height, width))
                    self._builder.store(value, flat, self._builder.index(offset, pixel))

    def _lane_of(self, source: IndexMap, lane: Lane, pixel: Sequence[SSAValue], sizes: tuple[int, int]) -> SSAValue:
        """The element of a lane, read from the source image."""
        condition = self._condition(lane, pixel)
        row, column, from_lane = (_over_pixel(expr, lane, sizes) for expr in source.coordinates)
        place = [self._builder.index(expr, pixel) for expr in (row, column)]
        first = self._builder.constant(0)
        if condition is not None:
            place = [self._builder.select(condition, value, first) for value in place]
        key = (row, column, lane.conditions)
        if key not in self._read:
            load = vector.LoadOp(self._copy.source, [*place, first], VectorType(self._element, [IMAGE_LANES]))
            self._builder.insert(load)
            self._read[key] = load.result
        position = (
            from_lane.value if isinstance(from_lane, AffineConstantExpr) else self._builder.index(from_lane, pixel)
        )
        if condition is not None and not isinstance(position, int):
            position = self._builder.select(condition, position, first)
        value = self._extract(self._read[key], position)
        return value if condition is None else self._builder.select(condition, value, self._pad)

    def _condition(self, lane: Lane, pixel: Sequence[SSAValue]) -> SSAValue | None:
        return self._builder.every(
            [
                self._builder.compare(
                    self._builder.index(condition.left, pixel),
                    _PREDICATES[condition.relation],
                    self._builder.index(condition.right, pixel),
                )
                for condition in lane.conditions
            ]
        )

    def _extract(self, pixel: SSAValue, position: SSAValue | int) -> SSAValue:
        return self._builder.insert(vector.ExtractOp(pixel, [position], self._element)).results[0]

    def _pixel(self, values: Sequence[SSAValue]) -> SSAValue:
        """A vector of the lanes."""
        kind = VectorType(self._element, [IMAGE_LANES])
        result = self._builder.insert(vector.BroadcastOp(values[0], kind)).results[0]
        for position, value in enumerate(values):
            if position:
                result = self._builder.insert(vector.InsertOp(value, result, [position], kind)).results[0]
        return result

    def _storage(self, buffer: SSAValue) -> SSAValue:
        operation = StorageOp(buffer, flat_type(stored_type(buffer.type)))
        operation.result.name_hint = buffer.name_hint
        return self._builder.insert(operation).results[0]


def _over_pixel(expr: AffineExpr, lane: Lane, sizes: Sequence[int]) -> AffineExpr:
    """An expression over the logical dims as one over row and column."""
    return affine.simplify(affine.substitute(expr, lane.indices), sizes)
