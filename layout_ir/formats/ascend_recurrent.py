"""
Ascend's formats of recurrent cells, in which every gate is padded by itself.

ND_RNN_BIAS was checked against the vendor's own offsets. **Experimental**: of FRACTAL_ZN_RNN and FRACTAL_ZN_LSTM only
the vendor's shapes are known, its data movement runs on its devices alone; the order inside of a fractal is that of
FRACTAL_Z, whose fractals have the same name.
"""

from __future__ import annotations

from xdsl.ir.affine import AffineExpr

from layout_ir.errors import LayoutError
from layout_ir.formats.ascend_channel_block import CUBE_SIZE
from layout_ir.formats.ascend_format import Notation, Parameters
from layout_ir.layouts.tiled import TiledLayout

_LSTM_GATES = 4


def bias_formula(parameters: Parameters) -> TiledLayout:
    """ND_RNN_BIAS: a vector of cells, each of `hidden_size` elements padded to a multiple of 16 (of `c0` if given)."""
    (index,) = parameters.dims()
    (size,) = parameters.shape
    hidden = _hidden_size(parameters, None)
    _check_whole_gates(parameters, size, hidden)
    inside = index % hidden
    return TiledLayout(1, (index // hidden, inside // parameters.c0, inside % parameters.c0))


def recurrent_formula(parameters: Parameters) -> TiledLayout:
    """
    FRACTAL_ZN_RNN over the matrix [K, N], K = input_size + hidden_size rows and N = gates * hidden_size columns.

    Experimental: K1, N1, N0 = 16, K0 = 16, where the input rows, the hidden rows and the columns of every gate are each
    padded to a multiple of 16.
    """
    rows, columns = parameters.dims()
    num_rows, num_columns = parameters.shape
    hidden = _hidden_size(parameters, None)
    return TiledLayout(2, _gates(parameters, rows, columns, num_rows, num_columns, hidden))


def lstm_formula(parameters: Parameters) -> TiledLayout:
    """
    FRACTAL_ZN_LSTM over N,C,H,W with H = W = 1: FRACTAL_ZN_RNN with K = C and four gates in N.

    Experimental, as that is. `hidden_size` is N / 4 unless it is given.
    """
    columns, rows, _, _ = parameters.dims()
    num_columns, num_rows, height, width = parameters.shape
    if (height, width) != (1, 1):
        raise LayoutError(f"{parameters.name}: expected H = W = 1, got {list(parameters.shape)}")
    hidden = _hidden_size(parameters, max(num_columns // _LSTM_GATES, 1))
    return TiledLayout(4, _gates(parameters, rows, columns, num_rows, num_columns, hidden))


def _hidden_size(parameters: Parameters, default: int | None) -> int:
    hidden = parameters.options.hidden_size or default
    if hidden is None:
        raise LayoutError(f"{parameters.name}: expected the option hidden_size, got none")
    return hidden


def _check_whole_gates(parameters: Parameters, size: int, hidden: int) -> None:
    if size % hidden:
        raise LayoutError(f"{parameters.name}: expected a multiple of hidden_size = {hidden} elements, got {size}")


def _gates(
    parameters: Parameters, rows: AffineExpr, columns: AffineExpr, num_rows: int, num_columns: int, hidden: int
) -> tuple[AffineExpr, ...]:
    _check_whole_gates(parameters, num_columns, hidden)
    inputs = parameters.options.input_size
    if inputs is None:
        inputs = max(num_rows - hidden, 0)
    if num_rows and inputs + hidden != num_rows:
        raise LayoutError(
            f"{parameters.name}: expected input_size + hidden_size = {num_rows} rows, got {inputs} + {hidden}"
        )
    gap = -inputs % CUBE_SIZE
    if gap:
        step = max(inputs, hidden)
        is_hidden = (rows + (step - inputs)) // step  # 0 in the input rows and 1 in the hidden rows
        rows = rows + is_hidden * gap
    blocks = -(-hidden // CUBE_SIZE)
    gate, inside = columns // hidden, columns % hidden
    column_block = gate * blocks + inside // CUBE_SIZE
    return rows // CUBE_SIZE, column_block, inside % CUBE_SIZE, rows % CUBE_SIZE


NOTATIONS = {
    "ND_RNN_BIAS": Notation(
        ("N",), bias_formula, ("hidden_size", "c0"), default_c0=CUBE_SIZE, merged_axes=3, unnamed_dims=True
    ),
    "FRACTAL_ZN_RNN": Notation(
        ("K", "N"), recurrent_formula, ("hidden_size", "input_size"), fixed_c0=CUBE_SIZE, unnamed_dims=True
    ),
    "FRACTAL_ZN_LSTM": Notation(("N", "C", "H", "W"), lstm_formula, ("hidden_size", "input_size"), fixed_c0=CUBE_SIZE),
}
"""Names of recurrent cells. Source: the vendor's host transfer code (bias) and shape code (weights)."""
