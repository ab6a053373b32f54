"""`layout-resolve` on every kind of place that a type can stand in, and its option."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import PassFailedException

from layout_ir.dialects.layout import LAYOUT
from layout_ir.formats.registry import SYSTEMS
from layout_ir.lowering.resolve import ResolvePass

NAMED = 'tensor<2x16x3x3xf16, #layout.format<"{}">>'
EXAMPLES = {
    "plain": "NHWC",
    "onednn": "onednn:nChw16c",
    "openvino": "openvino:b_fs_yx_fsv16",
    "ascend": "ascend:NC1HWC0",
    "mace": "mace:IN_OUT_CHANNEL",
    "cudnn": "cudnn:NHWC",
}


def parse(text: str) -> ModuleOp:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    context.load_dialect(LAYOUT)
    return Parser(context, text).parse_module()


def test_examples_cover_every_system() -> None:
    assert set(EXAMPLES) == {*SYSTEMS, "plain"}


def test_types_everywhere_are_resolved() -> None:
    named = NAMED.format("onednn:nChw16c")
    module = parse(f"""
func.func private @declared({named}) -> {named}
func.func @f(%x: {named}, %c: i1) -> {named} {{
  %y = layout.reorder %x pad = undef : {named} to {named}
  %t = "test.op"() {{held = [{named}]}} : () -> tuple<{named}, i32>
  %r = scf.if %c -> ({named}) {{
    scf.yield %x : {named}
  }} else {{
    %z = func.call @declared(%y) : ({named}) -> {named}
    scf.yield %z : {named}
  }}
  func.return %r : {named}
}}""")
    count = str(module).count("#layout.format")
    ResolvePass().apply(Context(), module)
    module.verify()
    assert "#layout.format" not in str(module)
    assert str(module).count("#layout.tiled") == count
    assert "pad = undef" in str(module)
    assert str(parse(str(module))) == str(module)


@pytest.mark.parametrize("system", EXAMPLES)
def test_only_the_chosen_systems_are_resolved(system: str) -> None:
    arguments = ", ".join(NAMED.format(name) for name in EXAMPLES.values())
    module = parse(f"func.func private @f({arguments}, tensor<4xf32, #layout.any>)")
    ResolvePass((system,)).apply(Context(), module)
    text = str(module)
    for other, name in EXAMPLES.items():
        assert (f'"{name}"' in text) == (other != system)


@pytest.mark.parametrize("alias, system", [("dnnl", "onednn"), ("mkldnn", "onednn"), ("cldnn", "openvino")])
def test_former_names_of_systems_are_known(alias: str, system: str) -> None:
    module = parse(f"func.func private @f({NAMED.format(EXAMPLES[system])})")
    ResolvePass((alias,)).apply(Context(), module)
    assert "#layout.format" not in str(module)


def test_an_unknown_system_names_the_nearest() -> None:
    with pytest.raises(PassFailedException, match=r"got 'onednm'; did you mean onednn\?"):
        ResolvePass(("onednm",)).apply(Context(), parse("builtin.module {}"))
