"""The operations: a reorder between two layouts, the same on buffers, and two ways to see one storage differently."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, NoMemoryEffect, Pure

from layout_ir.dialects import checks, operation_syntax


class _ConversionOp(IRDLOperation):
    """An op from its only operand to its only result: `%x : type to type`."""

    @classmethod
    def parse(cls, parser: Parser) -> _ConversionOp:
        operand = parser.parse_unresolved_operand()
        pad = operation_syntax.parse_pad(parser) if "pad" in cls.get_irdl_definition().properties else None
        attributes = parser.parse_optional_attr_dict()
        source_type, result_type = operation_syntax.parse_types(parser)
        return cls.create(
            operands=[parser.resolve_operand(operand, source_type)],
            result_types=[result_type],
            properties={} if pad is None else {"pad": pad},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        operation_syntax.print_pad(printer, self.properties.get("pad"))
        printer.print_op_attributes(self.attributes)
        operation_syntax.print_types(printer, self.operands[0].type, self.results[0].type)


@irdl_op_definition
class ReorderOp(HasCanonicalizationPatternsInterface, _ConversionOp):
    """
    The same logical value in another layout.

    Elements are moved bit for bit. The pads of the result hold `pad`, zero by default; `pad = undef` leaves them
    unwritten. The gaps of a strided result are never touched. Whoever passes a tensor to a function passes zeros in its
    pads, so that a reorder to the same function moves nothing and folds away.

    ```mlir
    func.func @pack(%image: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32, #layout.format<"NHWC">> {
      %blocked = layout.reorder %image pad = -1.0 : f32 : tensor<2x3x8x8xf32> to
          tensor<2x3x8x8xf32, #layout.tiled<(n, c, h, w) -> (n, c floordiv 4, h, w, c mod 4)>>
      %packed = layout.reorder %blocked :
          tensor<2x3x8x8xf32, #layout.tiled<(n, c, h, w) -> (n, c floordiv 4, h, w, c mod 4)>> to
          tensor<2x3x8x8xf32, #layout.format<"NHWC">>
      func.return %packed : tensor<2x3x8x8xf32, #layout.format<"NHWC">>
    }
    ```
    """

    name = "layout.reorder"

    source = operand_def(base(TensorType))
    result = result_def(base(TensorType))

    pad = opt_prop_def(Attribute)
    """What the pads hold: a typed integer or float, `#layout.undef`, or absent for zero."""

    traits = traits_def(Pure())

    def __init__(self, source: SSAValue | Operation, result_type: Attribute, pad: Attribute | None = None):
        super().__init__(operands=[source], result_types=[result_type], properties={"pad": pad})

    def verify_(self) -> None:
        checks.check_same_value(self, self.source.type, self.result.type)
        checks.check_destination(self, self.result.type)
        checks.check_pad(self, self.pad, self.result.type)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from layout_ir.dialects.canonicalization import REORDER_PATTERNS

        return REORDER_PATTERNS


@irdl_op_definition
class CopyOp(IRDLOperation):
    """
    Write the elements of one buffer into another of the same shape and any other layout; `layout.reorder` on buffers.

    The buffers must not overlap. Pads of the destination hold `pad` as in `layout.reorder`.

    ```mlir
    func.func @pack(%source: memref<4x8xf32>,
                    %destination: memref<4x8xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>) {
      layout.copy %source, %destination pad = undef : memref<4x8xf32> to
          memref<4x8xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>
      func.return
    }
    ```
    """

    name = "layout.copy"

    source = operand_def(base(MemRefType))
    destination = operand_def(base(MemRefType))

    pad = opt_prop_def(Attribute)
    """What the pads hold: a typed integer or float, `#layout.undef`, or absent for zero."""

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, source: SSAValue | Operation, destination: SSAValue | Operation, pad: Attribute | None = None
    ) -> None:
        super().__init__(operands=[source, destination], properties={"pad": pad})

    def verify_(self) -> None:
        checks.check_same_value(self, self.source.type, self.destination.type)
        checks.check_destination(self, self.destination.type)
        checks.check_pad(self, self.pad, self.destination.type)

    @classmethod
    def parse(cls, parser: Parser) -> CopyOp:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        destination = parser.parse_unresolved_operand()
        pad = operation_syntax.parse_pad(parser)
        attributes = parser.parse_optional_attr_dict()
        source_type, destination_type = operation_syntax.parse_types(parser)
        operands = parser.resolve_operand(source, source_type), parser.resolve_operand(destination, destination_type)
        result = cls(*operands, pad)
        result.attributes |= attributes
        return result

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.source, self.destination), printer.print_ssa_value)
        operation_syntax.print_pad(printer, self.pad)
        printer.print_op_attributes(self.attributes)
        operation_syntax.print_types(printer, self.source.type, self.destination.type)


@irdl_op_definition
class CastOp(HasCanonicalizationPatternsInterface, _ConversionOp):
    """
    The same storage under another spelling of its layout; nothing moves.

    Both layouts must put every element into the same place of storages of one size.

    ```mlir
    func.func @name(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32, #layout.format<"NCHW">> {
      %named = layout.cast %x : tensor<2x3x8x8xf32> to tensor<2x3x8x8xf32, #layout.format<"NCHW">>
      func.return %named : tensor<2x3x8x8xf32, #layout.format<"NCHW">>
    }
    ```
    """

    name = "layout.cast"

    source = operand_def(base(TensorType) | base(MemRefType))
    result = result_def(base(TensorType) | base(MemRefType))

    traits = traits_def(Pure())

    def __init__(self, source: SSAValue | Operation, result_type: Attribute):
        super().__init__(operands=[source], result_types=[result_type])

    def verify_(self) -> None:
        checks.check_same_value(self, self.source.type, self.result.type)
        checks.check_same_storage(self, self.source.type, self.result.type)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from layout_ir.dialects.canonicalization import CAST_PATTERNS

        return CAST_PATTERNS


@irdl_op_definition
class StorageOp(_ConversionOp):
    """
    The storage of a buffer as one dimension: element `i` of the result is place `i` of the source's storage.

    ```mlir
    func.func @last(%x: memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>) -> f32 {
      %flat = layout.storage %x :
          memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>> to memref<32xf32>
      %last = arith.constant 31 : index
      %pad = memref.load %flat[%last] : memref<32xf32>
      func.return %pad : f32
    }
    ```
    """

    name = "layout.storage"

    source = operand_def(base(MemRefType))
    result = result_def(base(MemRefType))

    traits = traits_def(NoMemoryEffect())

    def __init__(self, source: SSAValue | Operation, result_type: Attribute | None = None):
        """`result_type` follows from the source when left out; raises `LayoutError` where its sizes are not known."""
        if result_type is None:
            result_type = checks.storage_type(SSAValue.get(source).type)
        super().__init__(operands=[source], result_types=[result_type])

    def verify_(self) -> None:
        checks.check_storage(self, self.source.type, self.result.type)
