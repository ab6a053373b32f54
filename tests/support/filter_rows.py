"""Rows of filters whose input channels lie side by side, as in `OIhw8i16o2i`."""

from __future__ import annotations

from layout_ir.layouts.network_loads import Element


def filters(outputs: int, inner: int, outer: int, pixels: int) -> list[list[Element]]:
    """A row of output and inner input channels for every pixel of every outer input channel."""
    pitch = 1000 * outer * inner * pixels
    return [
        [
            ((i * pixels + pixel) * outputs * inner + number, place)
            for number, place in enumerate(
                output * pitch + (i * inner + j) * pixels + pixel for output in range(outputs) for j in range(inner)
            )
        ]
        for i in range(outer)
        for pixel in range(pixels)
    ]
