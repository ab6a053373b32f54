"""The reserved words of OpenCL C: its keywords, types, qualifiers and the built-in functions that have common names."""

from __future__ import annotations

import re

from layout_ir.backends.c_vocabulary import C_KEYWORDS
from layout_ir.backends.names import Vocabulary

_QUALIFIERS = frozenset(
    """
    kernel global local constant generic read_only write_only read_write pipe uniform vec_type_hint work_group_size_hint
    reqd_work_group_size
    """.split()  # noqa: SIM905 (a table of words reads better than a list of strings)
)

_TYPES = frozenset(
    """
    half quad bool complex imaginary uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t event_t sampler_t
    image1d_t image2d_t image3d_t image1d_array_t image2d_array_t image1d_buffer_t queue_t ndrange_t
    """.split()  # noqa: SIM905
)

_FUNCTIONS = frozenset(
    """
    acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf exp
    exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma lgamma_r log log2 log10
    log1p logb mad maxmag minmag modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos
    sinh sinpi sqrt tan tanh tanpi tgamma trunc abs abs_diff add_sat hadd rhadd clamp clz mad_hi mad_sat max min mul_hi
    rotate sub_sat upsample popcount mad24 mul24 degrees mix radians step smoothstep sign cross dot distance length
    normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater isgreaterequal isless islessequal
    islessgreater isfinite isinf isnan isnormal isordered isunordered signbit any all bitselect select shuffle shuffle2
    barrier mem_fence read_mem_fence write_mem_fence prefetch async_work_group_copy async_work_group_strided_copy
    wait_group_events printf vec_step get_work_dim
    """.split()  # noqa: SIM905
)

OPENCL_VOCABULARY = Vocabulary(
    language="opencl",
    words=C_KEYWORDS | _QUALIFIERS | _TYPES | _FUNCTIONS | {"NULL", "NAN", "INFINITY", "MAXFLOAT", "HUGE_VALF"},
    functions=frozenset({"main"}),
    pattern=re.compile(
        r"_.*|.*_t|layout_(shuffle_\d+|u\w+)|LAYOUT_\w+|(u?(char|short|int|long)|float|double|half|bool)\d+|(native|half|as|convert|atomic|atom|get|read|write)"
        r"_\w+|v(load|store)\w*|(CLK|M|FLT|DBL|CHAR|SCHAR|UCHAR|SHRT|USHRT|INT|UINT|LONG|ULONG|FP)_\w+|cl_\w+",
        re.ASCII,
    ),
)
