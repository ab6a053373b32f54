"""
Ascend's FRACTAL formats: matrices cut into the 16 x C0 fractals of the cube unit.

Every formula gives the axes separately, outermost first; the vendor writes the leading ones merged. All of them were
checked element by element against the vendor's own host transfer code, whose answers differ from its documentation in
two points: H0 and W0 of FRACTAL_ZZ are both C0 (the document has M0 = 16 and K0), and C0 of 4-byte elements is 16 (the
document has 8; say `c0 = 8`).
"""

from __future__ import annotations

from functools import partial
from math import lcm

from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.ascend_channel_block import CUBE_SIZE
from layout_ir.formats.ascend_format import Notation, Parameters, checked_rank
from layout_ir.layouts import affine
from layout_ir.layouts.tiled import TiledLayout

_NARROW_CHANNELS = 4


def weight_formula(parameters: Parameters) -> TiledLayout:
    """
    FRACTAL_Z, FRACTAL_Z_3D over N,C,(D,)H,W: (D,) C1, H, W, N1, N0 = 16, C0.

    With groups G1 comes first: C is the number of channels of one group and N of all outputs. As many groups as fill
    whole fractals are merged into one block-diagonal matrix.
    """
    outputs, channels, *space = parameters.dims()
    *depth, height, width = space
    if parameters.groups == 1:
        group: list[AffineExpr] = []
    else:
        *group, channels, outputs = _block_diagonal(parameters, channels, outputs)
    c0 = parameters.c0
    fractal = (outputs // CUBE_SIZE, outputs % CUBE_SIZE, channels % c0)
    return TiledLayout(len(parameters.shape), (*group, *depth, channels // c0, height, width, *fractal))


def _block_diagonal(
    parameters: Parameters, channels: AffineExpr, outputs: AffineExpr
) -> tuple[AffineExpr, AffineExpr, AffineExpr]:
    """The merged group, the channel inside of it and the output inside of it."""
    num_outputs, num_channels, groups = parameters.shape[0], parameters.shape[1], parameters.groups
    if num_outputs % groups:
        raise LayoutError(f"{parameters.name}: expected N to be a multiple of groups = {groups}, got N = {num_outputs}")
    per_group = max(num_outputs // groups, 1)
    num_channels = max(num_channels, 1)
    merged = min(
        lcm(lcm(num_channels, parameters.c0) // num_channels, lcm(per_group, CUBE_SIZE) // per_group),
        groups,
    )
    group = outputs // per_group
    inside = group % merged
    return group // merged, inside * num_channels + channels, inside * per_group + outputs % per_group


def matrix_weight_formula(parameters: Parameters) -> TiledLayout:
    """FRACTAL_Z of a matrix [C, N]: C1, N1, N0 = 16, C0."""
    channels, outputs = parameters.dims()
    c0 = parameters.c0
    return TiledLayout(2, (channels // c0, outputs // CUBE_SIZE, outputs % CUBE_SIZE, channels % c0))


def transposed_weight_formula(parameters: Parameters) -> TiledLayout:
    """
    FRACTAL_Z_3D_TRANSPOSE over N,C,D,H,W: D, N1, H, W, C1, 16, C0, with N split by C0 and C by 16.

    For 1-byte elements the framework's shape code has the two splits the other way round; this is what the host
    transfer code does with the data.
    """
    outputs, channels, depth, height, width = parameters.dims()
    c0 = parameters.c0
    fractal = (channels // CUBE_SIZE, channels % CUBE_SIZE, outputs % c0)
    return TiledLayout(5, (depth, outputs // c0, height, width, *fractal))


def narrow_weight_formula(parameters: Parameters) -> TiledLayout:
    """FRACTAL_Z_C04 over N,C,H,W with at most 4 channels: K1, N1, N0 = 16, C0, where k = (h*W + w)*4 + c."""
    outputs, channels, height, width = parameters.dims()
    _, num_channels, _, row = parameters.shape
    if num_channels > _NARROW_CHANNELS:
        raise LayoutError(
            f"{parameters.name}: expected at most {_NARROW_CHANNELS} channels, got {num_channels}: "
            f"{list(parameters.shape)}"
        )
    k = (height * row + width) * _NARROW_CHANNELS + channels
    coordinates = (k // parameters.c0, outputs // CUBE_SIZE, outputs % CUBE_SIZE, k % parameters.c0)
    return TiledLayout(4, coordinates, round_up=(1, _NARROW_CHANNELS, 1, 1))


def _only_row(block: int, like: AffineExpr) -> AffineExpr:
    """Row 0 of a block of rows, in a form that keeps the block's extent."""
    return AffineBinaryOpExpr(affine.MOD, like * 0, AffineConstantExpr(block))


def matrix_formula(parameters: Parameters, small_z: bool) -> TiledLayout:
    """
    FRACTAL_NZ: batch..., W1, H1, H0 = 16, W0 = C0, and FRACTAL_ZZ: batch..., H1, W1, H0 = C0, W0 = C0.

    H and W are the last two dims as given, whatever their letters: H,W of NCHW but W,C of NHWC. A vector is a matrix of
    one row.
    """
    checked_rank(parameters, 1)
    *batch, width = parameters.dims()
    block = parameters.c0 if small_z else CUBE_SIZE
    if batch:
        row = batch.pop()
        rows, row = row // block, row % block
    else:
        rows, row = AffineConstantExpr(0), _only_row(block, width)
    columns, column = width // parameters.c0, width % parameters.c0
    outer = (rows, columns) if small_z else (columns, rows)
    return TiledLayout(len(parameters.shape), (*batch, *outer, row, column))


_CONVOLUTION, _CONVOLUTION_3D = ("N", "C", "H", "W"), ("N", "C", "D", "H", "W")
_nz_formula = partial(matrix_formula, small_z=False)

NOTATIONS = {
    "FRACTAL_Z": Notation(_CONVOLUTION, weight_formula, ("groups", "c0"), merged_axes=3),
    "FRACTAL_Z_3D": Notation(_CONVOLUTION_3D, weight_formula, ("groups", "c0"), merged_axes=4),
    "FRACTAL_Z_3D_TRANSPOSE": Notation(_CONVOLUTION_3D, transposed_weight_formula, ("c0",), merged_axes=4),
    "FRACTAL_Z_C04": Notation(_CONVOLUTION, narrow_weight_formula, ("c0",)),
    "FRACTAL_NZ": Notation(None, _nz_formula, ("c0",), keeps_order=True),
    **{f"FRACTAL_NZ_C0_{c0}": Notation(None, _nz_formula, fixed_c0=c0, keeps_order=True) for c0 in (2, 4, 8, 16, 32)},
    "FRACTAL_ZZ": Notation(None, partial(matrix_formula, small_z=True), ("c0",), keeps_order=True),
}
"""Names that no grammar explains. Source: the vendor's host transfer code."""

MATRIX_WEIGHT = Notation(("C", "N"), matrix_weight_formula, ("c0",), unnamed_dims=True)
"""FRACTAL_Z of a tensor whose dims have no names, or only the names C and N."""
