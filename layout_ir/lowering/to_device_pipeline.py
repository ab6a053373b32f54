"""`layout-lower-device`: all passes in order, from layouts by name to kernels and the launches that run them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from layout_ir.lowering.flatten import FlattenPass
from layout_ir.lowering.resolve import ResolvePass
from layout_ir.lowering.to_buffers import ToBuffersPass
from layout_ir.lowering.to_device import WORK_GROUP, ToDevicePass
from layout_ir.lowering.to_device_images import ToImagesPass
from layout_ir.lowering.to_loops import ToLoopsPass


def lower_for_device(
    context: Context,
    module: ModuleOp,
    *,
    images: bool = False,
    work_group: int = WORK_GROUP,
    vector_bytes: int = 0,
    most_lanes: int = 16,
    tile: int = 0,
) -> None:
    """
    Lower a module in place; afterwards its functions only launch the kernels of one `gpu.module`.

    `images`: image layouts are images of the device instead of buffers. `work_group` as in `layout-to-device`.
    `vector_bytes`: width of the vector registers of a processor, whose work items move whole tiles; 0 of a device whose
    work items move one element each. `most_lanes`: elements of the longest vectors of its language. `tile`: elements
    along the side of the largest tile that a group of such a device stages in local memory.
    """
    stages: list[ModulePass] = [ResolvePass(), ToBuffersPass()]
    if images:
        stages.append(ToImagesPass())
    stages += [
        ToLoopsPass(vector_bytes, device=True, most_lanes=most_lanes, tile=tile),
        FlattenPass(),
        ToDevicePass(work_group),
    ]
    for stage in stages:
        stage.apply(context, module)
    module.verify()


@dataclass(frozen=True)
class LowerForDevicePass(ModulePass):
    """The whole lowering for a device as one pass."""

    name = "layout-lower-device"

    images: bool = False
    """Whether image layouts are images of the device instead of buffers."""

    work_group: int = WORK_GROUP
    """Work items of a group, at most."""

    vector_bytes: int = 0
    """Width of the vector registers that tiles go through: 16, 32 or 64; 0 for one element a work item."""

    most_lanes: int = 16
    """Elements of the longest vectors that the device's language has."""

    tile: int = 0
    """Elements along the side of the largest tile in local memory; 0 for none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_for_device(
            ctx,
            op,
            images=self.images,
            work_group=self.work_group,
            vector_bytes=self.vector_bytes,
            most_lanes=self.most_lanes,
            tile=self.tile,
        )
