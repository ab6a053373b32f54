"""The names of memory formats that releases of clDNN and OpenVINO's GPU plugin list (2019 to 2026.4.1), by era."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from layout_ir.formats.era import Era

_CURRENT = """
bfyx bfxy bfzyx bfwzyx bfuwzyx bfvuwzyx yxfb byxf fbyx fyxb fybx xbfy ybfx bzyxf byfx bxfy b_fs_yx_fsv2 b_fs_zyx_fsv2
b_fs_yx_fsv4 b_fs_zyx_fsv4 b_fs_yx_fsv8 b_fs_zyx_fsv8 b_fs_yx_fsv16 b_fs_yx_fsv32 b_fs_zyx_fsv16 b_fs_zyx_fsv32
bs_fs_yx_bsv16_fsv32 bs_fs_zyx_bsv16_fsv32 bs_fs_zyx_bsv16_fsv16 bs_fs_yx_bsv16_fsv16 bs_fs_yx_bsv4_fsv4
bs_fs_yx_bsv8_fsv4 bs_fs_zyx_bsv8_fsv4 bs_fs_yx_bsv16_fsv4 bs_fs_zyx_bsv16_fsv4 bs_fs_yx_bsv8_fsv2 bs_fs_zyx_bsv8_fsv2
bs_fs_yx_bsv16_fsv2 bs_fs_zyx_bsv16_fsv2 bs_fs_yx_bsv16_fsv8 bs_fs_zyx_bsv16_fsv8 bs_fs_yx_bsv4_fsv2
bs_fs_zyx_bsv4_fsv4 bs_fs_zyx_bsv4_fsv2 bs_fs_yx_bsv32_fsv32 bs_fs_yx_bsv32_fsv16 bs_fs_zyx_bsv32_fsv32
bs_fs_zyx_bsv32_fsv16 fs_b_yx_fsv32 bs_fs_fsv8_bsv8 bs_f_bsv16 winograd_2x3_s1_data oiyx ioyx oyxi oyix oxiy iyxo yxio
os_iyx_osv16 os_iyx_osv32 os_iyx_osv8 os_iyx_osv32__ai32 os_iyx_osv64 os_is_zyx_isv16_osv16 is_os_zyx_isv16_osv16
is_os_yx_isv16_osv16 os_is_zyx_isv8_osv16_isv2 os_is_yx_isv8_osv16_isv2 os_is_yx_isv16_osv16 os_zyxi_osv16
os_i_osv8__ai8 os_i_osv16__ai8 os_i_osv16 os_is_yx_osv16_isv16 os_is_zyx_osv16_isv16 os_is_zyx_osv32_isv16
os_is_zyx_osv64_isv16 i_yxs_os_yxsv2_osv16 iy_xs_os_xsv2_osv16__ao32 iy_xs_os_xsv2_osv8__ao32 os_is_yx_isa8_osv8_isv4
os_is_zyx_isa8_osv8_isv4 os_is_yx_isa8_osv16_isv4 os_is_zyx_isa8_osv16_isv4 os_is_yx_osa4_isa8_osv8_isv4
os_is_zyx_osa4_isa8_osv8_isv4 os_is_yx_osa4_isa8_osv8_isv4_swizzled_by_4 os_is_zyx_osa4_isa8_osv8_isv4_swizzled_by_4
os_is_yx_osa2_isa8_osv16_isv4_swizzled_by_2 os_is_zyx_osa2_isa8_osv16_isv4_swizzled_by_2 os_is_yx_osv16_isv4
os_is_yx_osv8_isv4 os_is_yx_osv32_isv4_swizzled_by_2 os_is_yx_osv32_isv4 os_is_zyx_osv32_isv4 oizyx iozyx goiyx gioyx
goizyx giozyx gyxio g_os_iyx_osv8 g_os_iyx_osv16 g_os_iyx_osv32 gs_oiyx_gsv16 gs_oizyx_gsv16 gs_oiyx_gsv32
gi_yxs_os_yxsv2_osv16 g_is_os_zyx_isv16_osv16 g_is_os_yx_isv16_osv16 g_os_is_zyx_isv8_osv16_isv2
g_os_is_yx_isv8_osv16_isv2 g_os_is_zyx_isv16_osv16 g_os_is_zyx_osv16_isv16 giy_xs_os_xsv2_osv16__ao32
giy_xs_os_xsv2_osv8__ao32 g_os_is_yx_isv16_osv16 gs_oi_yxs_gsv4_yxsv4 gs_oi_yxs_gsv16_yxsv4 gs_oi_yxs_gsv32_yxsv4
g_os_is_yx_osv16_isv4 g_os_zyx_is_osv16_isv4 g_os_zyx_is_osv16_isv16 g_os_zyx_is_osv16_isv32 g_os_zyx_is_osv32_isv4
g_os_zyx_is_osv32_isv16 g_os_zyx_is_osv32_isv32 o_is_yx_isv4 o_is_yx_isv16 image_2d_weights_c4_fyx_b
image_2d_weights_c1_b_fyx winograd_2x3_s1_weights winograd_2x3_s1_fused_weights winograd_6x3_s1_fused_weights
image_2d_weights_winograd_6x3_s1_fbxyb image_2d_weights_winograd_6x3_s1_xfbyb os_is_yx_osv32_isv2 os_is_yx_osv64_isv2
image_2d_rgba
"""

_INTERNAL = """
f bf fb bs_f_bsv8__af8 bs_f_bsv16__af8 oi io os_iyx_osv16_rotate_180
"""

_UNTIL_2022 = """
bs_xs_xsv8_bsv8 bs_x_bsv16 bs_xs_xsv8_bsv16
"""

_UNTIL_2023 = """
o_is_yx_isv2 o_is_zyx_isv16 os_yxi_osv16 is_os_yx_isv16_osv8 is_os_yx_isv16_osv4 is_os_yx_isv16_osv2
os_is_yx_osv16_isv2 lstm_weights_dio is_os_yx_isa4_osa8_isv8_osv4 is_os_yx_osa4_isa8_osv8_isv4
g_os_is_yx_osa2_isa8_osv8_isv2 g_os_is_yx_osa4_isa8_osv8_isv4 g_os_is_zyx_osa4_isa8_osv8_isv4
g_os_is_zyx_isa8_osv8_isv2 g_os_is_zyx_isa8_osv8_isv4 os_is_yx_osa4_isa8_osv8_isv2 os_is_zyx_osa4_isa8_osv8_isv2
g_os_is_yx_osa4_isa8_osv8_isv2 g_os_is_zyx_osa4_isa8_osv8_isv2 os_is_yx_osa2_isa8_osv8_isv2
os_is_zyx_osa2_isa8_osv8_isv2 os_is_yx_osa2_isa8_osv16_isv4 os_is_yx_osa2_isa8_osv16_isv2 os_is_zyx_isa8_osv8_isv2
is_os_zyx_isa8_osv8_isv2 is_os_zyx_isa8_osv8_isv4 os_is_yx_isa8_osv8_isv2 is_os_yx_isa8_osv8_isv2
is_os_yx_isa8_osv8_isv4 is_os_yx_osv8_isv4 is_os_yx_osa8_isv16_osv4 is_os_yx_isa2_osa8_isv8_osv2
g_os_is_yx_osa2_isa8_osv16_isv4 g_os_is_yx_osa2_isa8_osv16_isv2 os_is_yx_isa8_osv8_isv4_swizzled_by_4 is_o_yx_isv32
is_o32_yx_isv32_swizzled_by_4 os_is_y_x8_osv8_isv4 os_is_y_x8_osv8_isv4_swizzled_by_4 os_is_zyx_osv8_isv4
os_is_yx_osv8_isv2 os_is_zyx_osv8_isv2 os_is_yx_osv2_isv16 os_is_yx_osv4_isv16 os_is_osv32_isv32_swizzled_by_4
os_i_yxs_osv4_yxsv4 os_y_is_x_osv8_isv2 os_y_is_x_osv8_isv4 os_yx_is_osv8_isv2 os_yx_is_osv8_isv4 os_zyx_is_osv8_isv2
os_zyx_is_osv8_isv4 os_zy_is_x_osv8_isv2 os_zy_is_x_osv8_isv4 gs_oiyx_gsv8 gs_oizyx_gsv8 gs_oizyx_gsv32
g_os_is_yx_isa8_osv8_isv2 g_os_is_yx_isa8_osv8_isv4 g_os_zy_is_x_osv8_isv2 g_os_zy_is_x_osv8_isv4
g_os_zyx_is_osv8_isv2 g_os_zyx_is_osv8_isv4 g_os_is_yx_osv8_isv2 g_os_is_yx_osv8_isv4 g_os_yx_is_osv8_isv2
g_os_yx_is_osv8_isv4 g_os_y_is_x_osv8_isv2 g_os_y_is_x_osv8_isv4 os_is_yx_osv32_isv32p b_fs_yx_32fp
"""

_OF_2019 = """
bfyx_f16 bfzyx_f16 byxf_af32 byx8_f4 bf8_xy16 fs_bs_yx_bsv4_fsv32 o_i_yx_i16_o16 o_i_zyx_i16_o16 i_o_zyx_o16_i16
oiyx_o16 is_os_yx_osv16_isv16 is_os_zyx_osv16_isv16 g_is_os_yx_osv16_isv16 g_is_os_zyx_osv16_isv16
"""

_SUCCESSORS = {
    "bs_xs_xsv8_bsv8": "bs_fs_fsv8_bsv8",
    "bs_x_bsv16": "bs_f_bsv16",
    "bfyx_f16": "b_fs_yx_fsv16",
    "bfzyx_f16": "b_fs_zyx_fsv16",
    "o_i_yx_i16_o16": "os_is_yx_isv16_osv16",
    "o_i_zyx_i16_o16": "os_is_zyx_isv16_osv16",
    "i_o_zyx_o16_i16": "is_os_zyx_isv16_osv16",
    "oiyx_o16": "os_iyx_osv16",
    "is_os_yx_osv16_isv16": "is_os_yx_isv16_osv16",
    "is_os_zyx_osv16_isv16": "is_os_zyx_isv16_osv16",
    "g_is_os_yx_osv16_isv16": "g_is_os_yx_isv16_osv16",
    "g_is_os_zyx_osv16_isv16": "g_is_os_zyx_isv16_osv16",
}
"""Names that went away, and the one that took over the same storage order."""


_ERAS = (
    (_CURRENT, Era()),  # of 2026.4.1, the newest release that was looked at
    (_INTERNAL, Era(is_internal=True)),
    (_UNTIL_2022, Era(until="2022.3")),
    (_UNTIL_2023, Era(until="2023.2")),
    (_OF_2019, Era(since="2019", until="2020")),
)


@cache
def _era_of_names() -> dict[str, Era]:
    return {name: replace(era, successor=_SUCCESSORS.get(name)) for names, era in _ERAS for name in names.split()}


@cache
def names() -> tuple[str, ...]:
    """All names that a release lists; some of them exist for 4-bit or 1-bit elements only."""
    return tuple(_era_of_names())


def era(name: str) -> Era | None:
    """The releases that list a name; None for a name that only the grammar explains."""
    return _era_of_names().get(name)
