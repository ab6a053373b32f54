"""Names in the other direction: what a layout does, what others call it, and why some have no name for it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import layout_ir as li
from layout_ir.explanation.catalogue import related_map, related_names
from layout_ir.explanation.roles import matching
from layout_ir.explanation.structure import fixed_layout
from layout_ir.explanation.subject import Subject
from layout_ir.formats.registry import parse_format

BLOCKED = ("ascend:NC1HWC0", "cudnn:NC/16HW16", "onednn:aBcd16b", "openvino:b_fs_yx_fsv16", "openvino:bfyx_f16")


def test_an_explanation_says_it_all():
    text = str(li.explain("onednn:nChw16c", (1, 3, 224, 224), "f16", element=(0, 1, 2, 3)))
    assert text == (
        "onednn:nChw16c of n=1 c=3 h=224 w=224, f16\n"
        "  order    samples (n), then blocks of 16 channels (c), then rows (h), then columns (w), "
        "then 16 channels of a block; padded: c from 3 to 16\n"
        "  map      (n, c, h, w) -> (n, c floordiv 16, h, w, c mod 16)\n"
        "  storage  1 x 1 x 224 x 224 x 16 = 802816 elements, 1605632 bytes, 81.2% pads\n"
        "  example  n=0 c=1 h=2 w=3 lies at (0, 0, 2, 3, 1): 0*802816 + 0*802816 + 2*3584 + 3*16 + 1*1 = 7217\n"
        "  always   the same for all shapes: ascend:NC1HWC0 (N,C,H,W), cudnn:NC/16HW16 (N,C,H,W), "
        "onednn:aBcd16b (a,b,c,d), openvino:b_fs_yx_fsv16 (b,f,y,x), openvino:bfyx_f16 (b,f,y,x; until 2020)\n"
        "  here     the same for this shape: ascend:C1HWNC0 (N,C,H,W), onednn:ABcd4a4b (a,b,c,d), "
        "onednn:BAcd4a4b (a,b,c,d), onednn:Bcda16b (a,b,c,d), openvino:bs_fs_yx_bsv4_fsv4 (b,f,y,x)"
    )


@pytest.mark.parametrize(
    "name, shape, dtype, expected",
    [
        ("mace:IN_OUT_CHANNEL", (1, 5, 6, 7), "f32", "an image of 12 x 5 pixels, 5 x 12 x 4 = 240 elements, 960 bytes"),
        (
            "mace:IN_OUT_CHANNEL",
            (1, 5, 6, 7),
            "f32",
            "row: n * 5 + h; column: (c floordiv 4) * 6 + w; lane: 4 channels",
        ),
        ("openvino:os_i_yxs_osv4_yxsv4", (8, 3, 3, 3), "i8", "then (y * 3 + x) floordiv 4, then 4 output channels of"),
        ("openvino:os_iyx_osv16_rotate_180", (8, 3, 3, 3), "i8", "y * -1 + 2, x * -1 + 2"),
        ("onednn:OIhw4i16o4i", (32, 32, 3, 3), "i8", "then 4 blocks of 4 input channels, then 16 output channels"),
        ("strided<[8, 1], offset: 2>", (3, 8), "f32", "d0 with a stride of 8, d1 with a stride of 1, from offset 2"),
        ("strided<[9, 1]>", (3, 8), "f32", "26 = 26 elements, 104 bytes, 7.7% gaps and pads"),
        ("(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)", (3, 8), "u4", "24 elements, 12 bytes, no pads"),
        ("onednn:a", (3,), "u1", "3 = 3 elements, 1 byte, no pads"),
        ("onednn:nchw", (0, 2, 3, 4), "f32", "example  no element"),
        ("openvino:iy_xs_os_xsv2_osv16__ao32", (33, 2, 3, 5), "f32", "no other known name denotes it"),
        ("openvino:bfyx_f16", (1, 3, 5, 5), "f16", "releases since 2019, until 2020, then b_fs_yx_fsv16\n"),
        ("openvino:bs_x_bsv16", (17, 3), "f16", "releases until 2022.3, then bs_f_bsv16\n"),
        ("openvino:os_iyx_osv16_rotate_180", (17, 3, 2, 2), "f16", "releases internal\n"),
    ],
)
def test_words_fit_every_kind_of_layout(name: str, shape: tuple[int, ...], dtype: str, expected: str):
    assert expected in str(li.explain(name, shape, dtype))


def names_of(name: str, shape: tuple[int, ...], dtype: str, for_all: bool | None = None) -> set[str]:
    same = li.explain(name, shape, dtype).same
    return {s.name for s in same if for_all is None or s.for_all_shapes == for_all}


@pytest.mark.parametrize("name", ["onednn:nChw16c", *BLOCKED])
def test_every_system_calls_one_block_by_its_own_name(name: str):
    shape, dtype = (2, 35, 3, 5), "f16"
    assert names_of(name, shape, dtype, for_all=True) >= {"onednn:nChw16c", *BLOCKED} - {name}


def test_dims_are_matched_by_what_they_mean():
    shape = (2, 3, 4, 5)
    assert {"openvino:bfyx", "onednn:nchw", "ascend:NCHW", "cudnn:NCHW", "bfyx"} <= names_of("NCHW", shape, "f32", True)
    assert "onednn:oihw" not in names_of("NCHW", shape, "f32")
    assert {"openvino:oiyx", "onednn:oihw", "cudnn:KCRS"} <= names_of("OIHW", shape, "f32", for_all=True)
    tile = li.explain("mace:HTA_D32", (2, 3, 4, 35), "i8")
    assert tile.dims == ("n", "h", "w", "c")
    hwcn = li.explain("onednn:nchw", (4, 5, 3, 2), "f32", dims="hwcn")
    assert hwcn.dims == ("h", "w", "c", "n")
    assert next(same for same in hwcn.same if same.name == "openvino:bfyx").dims == "y,x,f,b"


def test_shapes_make_more_names_equal():
    assert "NHWC" not in names_of("NCHW", (2, 3, 4, 5), "f32")
    here = names_of("NCHW", (2, 1, 4, 5), "f32", for_all=False)
    assert {"NHWC", "onednn:nhwc", "openvino:byxf", "ascend:NHWC"} <= here
    assert "cudnn:NC/32HW32" in names_of("NHWC", (2, 32, 4, 5), "f32", for_all=False)
    assert "cudnn:NC/32HW32" not in names_of("NHWC", (2, 16, 4, 5), "f32")


@pytest.mark.parametrize(
    "name, shape, dtype",
    [
        ("onednn:nChw16c", (1, 17, 3, 2), "f16"),
        ("openvino:os_is_yx_isv16_osv16", (17, 3, 2, 3), "f32"),
        ("ascend:FRACTAL_Z", (32, 16, 3, 3), "f16"),
        ("mace:WEIGHT_WIDTH", (3, 5, 1, 2), "f32"),
    ],
)
def test_the_names_are_all_that_agree_element_by_element(name: str, shape: tuple[int, ...], dtype: str):
    explanation = li.explain(name, shape, dtype)
    wanted = explanation.index_map
    subject = Subject(parse_format(name), len(shape), li.element_type(dtype), shape)
    expected: set[str] = set()
    for system in ("plain", "ascend", "cudnn", "mace", "onednn", "openvino"):
        for related in related_names(subject, system):
            other = related_map(subject, related)
            if other is not None and (other.storage_size, other.is_image) == (wanted.storage_size, wanted.is_image):
                same_image = not other.is_image or other.image_size == wanted.image_size
                if same_image and np.array_equal(other.offsets(), wanted.offsets()):
                    expected.add(related.name)
    assert {same.name for same in explanation.same} == expected - {name}


@pytest.mark.parametrize("name", ["onednn:nChw16c", "openvino:os_is_yx_isv16_osv16", "NHWC"])
def test_what_holds_for_all_shapes_holds_for_other_shapes(name: str):
    always = names_of(name, (2, 35, 3, 5), "f16", for_all=True)
    assert always
    for shape in ((1, 1, 1, 1), (17, 16, 2, 3), (33, 48, 1, 2)):
        assert always <= names_of(name, shape, "f16")


def test_a_format_is_fixed_only_if_it_never_looks_at_the_shape():
    f32 = li.element_type("f32")
    for name in ("openvino:b_fs_yx_fsv16", "ascend:NC1HWC0", "ascend:FRACTAL_Z", "mace:HTA_D32", "NHWC"):
        assert fixed_layout(parse_format(name), 4, f32) is not None
    for name in (
        *("openvino:os_i_yxs_osv4_yxsv4", "openvino:os_iyx_osv16_rotate_180", "openvino:image_2d_weights_c4_fyx_b"),
        *("openvino:iy_xs_os_xsv2_osv16__ao32", "ascend:FRACTAL_Z_C04", "mace:IN_OUT_CHANNEL", "mace:DW_CONV2D_FILTER"),
    ):
        assert fixed_layout(parse_format(name), 4, f32) is None
    assert fixed_layout(parse_format("ascend:FRACTAL_NZ"), 3, f32) is not None
    assert fixed_layout(parse_format("NHWC"), 3, f32) is None


def test_roles_are_matched_by_name_or_by_position():
    data = ("batch", "channel", "height", "width")
    assert matching(data, ("batch", "height", "width", "channel"), 4) == (0, 2, 3, 1)
    assert matching(("height", "batch", "width", "channel"), None, 4) == (1, 3, 0, 2)
    assert matching(None, ("batch", "height", "width", "channel"), 4) == (0, 2, 3, 1)
    assert matching(None, None, 2) == (0, 1)
    assert matching(data, ("output", "input", "height", "width"), 4) is None


# -- translate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, to, options, expected",
    [
        ("onednn:nChw16c", "openvino", {}, "openvino:b_fs_yx_fsv16"),
        ("onednn:nChw16c", "clDNN", {}, "openvino:b_fs_yx_fsv16"),
        ("onednn:nChw16c", "cudnn", {}, "cudnn:NC/16HW16"),
        ("onednn:nChw16c", "ascend", {"dtype": "f16"}, "ascend:NC1HWC0"),
        ("onednn:nChw16c", "ascend", {"dtype": "i8", "shape": (2, 3, 4, 5), "c0": None}, None),
        ("openvino:bfyx_f16", "openvino", {}, "openvino:b_fs_yx_fsv16"),
        ("openvino:bfyx", "onednn", {}, "onednn:nchw"),
        ("openvino:bfzyx", "ascend", {}, "ascend:NCDHW"),
        ("openvino:oiyx", "onednn", {}, "onednn:oihw"),
        ("openvino:g_os_is_yx_osa2_isa8_osv8_isv2", "onednn", {}, "onednn:gOIhw2o8i8o2i"),
        ("NHWC", "openvino", {}, "openvino:byxf"),
        ("mace:HTA_D32", "cudnn", {}, None),
        ("cudnn:NC/32HW32", "onednn", {}, "onednn:nChw32c"),
        ("cudnn:KRSC", "onednn", {}, "onednn:ohwi"),
        ("onednn:nchw", "plain", {}, "NCHW"),
        ("onednn:nchw", "ascend", {"dims": "hwcn"}, "ascend:NCHW"),
        ("ascend:NC1HWC0", "openvino", {"c0": 4}, "openvino:b_fs_yx_fsv4"),
        ("ascend:FRACTAL_NZ", "onednn", {"shape": (17, 20)}, "onednn:BA16a16b"),
        ("cudnn:strided", "onednn", {"strides": (60, 1, 15, 3), "shape": (2, 3, 4, 5)}, "onednn:nhwc"),
        ("openvino:os_i_yxs_osv4_yxsv4", "onednn", {"shape": (4, 3, 2, 2)}, "onednn:iohw"),
        ("(d0, d1) -> (d1, d0)", "plain", {}, "CN"),
    ],
)
def test_translation(name: str, to: str, options: dict[str, object], expected: str | None):
    if expected is None:
        with pytest.raises(li.LayoutError, match=f"{name} has no name in {to}: {to} has no format that"):
            li.translate(name, to, **options)  # pyright: ignore[reportArgumentType]
    else:
        assert li.translate(name, to, **options) == expected  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "name, to, options, expected",
    [
        (
            "onednn:NChw3n16c",
            "openvino",
            {},
            r"no name in openvino: openvino has no format that blocks n by 3; nearest is openvino:bs_fs_yx_bsv16_fsv16 "
            r"\(with shape \[1, 1, 1, 2\], element \[0, 0, 0, 1\] has the offsets 48 and 256\).*"
            r"would call it openvino:bs_fs_yx_bsv3_fsv16, which no release lists",
        ),
        ("onednn:aBcd24b", "openvino", {}, "no format that blocks b by 24; .*openvino:b_fs_yx_fsv24, which no release"),
        ("onednn:tnc", "openvino", {}, "openvino has no format over the dims t, n, c"),
        ("openvino:os_i_yxs_osv4_yxsv4", "onednn", {}, r"depends on the shape, .*expected shape=\(\.\.\.\)"),
        (
            "openvino:os_i_yxs_osv4_yxsv4",
            "onednn",
            {"shape": (4, 3, 3, 3)},
            r"no format that puts every element of \[4, 3, 3, 3\] into the same place; nearest is onednn:.*element \[",
        ),
        ("ascend:FRACTAL_NZ", "onednn", {}, "takes tensors of several ranks; expected shape="),
        (
            "ascend:FRACTAL_Z",
            "onednn",
            {"dtype": "f16"},
            "stores these blocks in the same order; nearest is onednn:Bcda16b",
        ),
        ("mace:IN_OUT_CHANNEL", "ascend", {"shape": (1, 5, 6, 7)}, "is an image, and no format of ascend is"),
        ("strided<[8, 1]>", "onednn", {}, "onednn has no name for explicit strides"),
        ("onednn:nchw", "opnvino", {}, "unknown system 'opnvino', expected one of .*; did you mean openvino"),
        ("onednn:nchv", "openvino", {}, "oneDNN tag 'nchv': expected"),
        ("onednn:nchw", "openvino", {"shape": (1, 2)}, "expected a shape of rank 4"),
    ],
)
def test_what_has_no_name_is_told_why(name: str, to: str, options: dict[str, object], expected: str):
    with pytest.raises(li.LayoutError, match=expected):
        li.translate(name, to, **options)  # pyright: ignore[reportArgumentType]


def test_an_explanation_refuses_what_does_not_fit():
    with pytest.raises(li.LayoutError, match=r"element of NCHW: expected an index inside \[1, 2, 3, 4\]"):
        li.explain("NCHW", (1, 2, 3, 4), element=(1, 0, 0, 0))
    with pytest.raises(li.LayoutError, match="expected a shape of rank 4"):
        li.explain("NCHW", (1, 2, 3))


def test_an_explanation_loads_nothing_that_only_kernels_need():
    code = (
        "import sys; import layout_ir as li; li.explain('onednn:nChw16c', (1, 3, 224, 224)); "
        "print([name for name in sys.modules if name in ('numpy', 'ctypes', 'subprocess', 'xdsl.dialects') "
        "or name.startswith(('layout_ir.lowering', 'layout_ir.backends', 'layout_ir.runtime', 'layout_ir.dialects'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
