"""
The names of oneDNN's `dnnl_format_tag_t`: 873 tags over a, b, c, ... and 798 aliases, as of oneDNN 3.13.

No tag went away since 3.2. The grammar in `onednn_tag` needs no list; this one serves listings and suggestions. Source:
the enumeration in oneDNN's public header `dnnl_types.h`. Grouped by outer letters: what follows `OIhw:` are the inner
blocks of tags that begin with OIhw, and `.` stands for none.
"""

from __future__ import annotations

from functools import cache

_TAGS = """
a: . ab: . abc: . abcd: . abcde: . abcdef: . abcdefg: . abcdefgh: . abcdefghi: . abcdefghij: . abcdefghijk: .
abcdefghijkl: . ba: . acb: . bac: . bca: . cab: . cba: . abdc: . acbd: . acdb: . adbc: . adcb: . bacd: . bcda: . cdab:
. cdba: . dcab: . abced: . abdec: . acbde: . acdeb: . adecb: . bacde: . bcdea: . cdeab: . cdeba: . decab: . abcdfe: .
abdefc: . abdfce: . acbdef: . adefcb: . defcab: . abcdegf: . abcdefhg: . abcdefgih: . abcdefghji: . abcdefghikj: .
abcdefghijlk: . Abc: 16a 4a 8a 32a ABc: 16a16b 32a32b 4a4b 16b16a 4b16a4b 2b8a4b 16b16a4b 16b16a2b 4b4a 8a16b2a 8a8b
8a4b 8b16a2b 8b8a 4a8b8a4b 16b32a 16b64a 4b32a4b 4b64a4b 8b32a2b 8b64a2b 16a16b2a 16b32a4b 16b48a4b 16b64a4b 16b32a2b
16b48a2b 16b64a2b 32a16b 40a16b 40a32b 4a2b 8a2b 4a8b8a2b 2b8a16b4a 2a8b16a4b 2a8b16a2b 2b32a8b 8b32a 8b24a 8b16a
4b8a4b 4b24a4b 8b24a2b 8b8a2b 16b48a 16a4b aBc: 16b 32b 4b 8b BAc: 8a16b2a 4b8a8b4a 16a16b 16b16a 4b8a8b2a 2b8a16b4a
2b8a16b2a 8a8b 4a4b Abcd: 16a 8a 32a 4a ABcd: 16a16b 32a32b 16b16a 4b16a4b 16b16a4b 16b16a2b 4b4a 4a4b 8a16b2a 2b8a4b
8a8b 8a4b 8b16a2b 8b8a 4a8b8a4b 2a8b8a2b 16b32a 16b64a 4b32a4b 4b64a4b 8b32a2b 8b64a2b 16a16b2a 16b32a4b 16b48a4b
16b64a4b 16b32a2b 16b48a2b 16b64a2b 32a16b 40a16b 40a32b 8a2b 4a8b8a2b 4a2b 2b8a16b4a 2a8b16a4b 2a8b16a2b 2b32a8b
16a32b 8b32a 8b24a 8b16a 4b8a4b 4b24a4b 8b24a2b 8b8a2b 16b48a 16a4b aBcd: 16b 32b 4b 8b aBCd: 16b16c 16c16b 2c4b2c
4b8c2b 4c16b4c 2c8b4c 16c16b4c 16c16b2c 4c4b 4b4c 4c8b2c 8b16c2b 8b8c 8b4c 8c16b2c 8c8b 2b4c2b 4b8c8b4c 16b16c2b 8b2c
4b8c8b2c 2c8b16c2b 2b8c16b2c 2b8c16b4c BAcd: 8a16b2a 4b8a8b4a 16a16b 16b16a 4b8a8b2a 2b8a16b4a 2b8a16b2a 8a8b 4a4b
ABcde: 8a16b2a 16a16b 4b16a4b 2b8a4b 16b16a 4b4a 4a4b 8a8b 8a4b 8b16a2b 8b8a 32a32b 4a8b8a4b 4b32a4b 4b64a4b 16b16a4b
16b16a2b 16b32a 16b64a 8b32a2b 8b64a2b 16b32a4b 16b48a4b 16b64a4b 16b32a2b 16b48a2b 16b64a2b 32a16b 4a2b 8a2b 40a16b
40a32b 4a8b8a2b 2b8a16b4a 2a8b16a4b 2a8b16a2b 2b32a8b 16a16b2a 8b32a 8b24a 8b16a 4b8a4b 4b24a4b 8b24a2b 8b8a2b 16b48a
16a4b aCBd: 8b16c2b 16b16c 16c16b 4c8b8c4b 4c8b8c2b 2c8b16c2b 8b8c 4b4c Abcde: 16a 32a 4a 8a BAcde: 8a16b2a 16b16a
4b8a8b4a 16a16b 4b8a8b2a 2b8a16b4a 2b8a16b2a 8a8b 4a4b aBcde: 16b 32b 4b 8b aBCde: 16b16c 16c16b 2c8b4c 4b4c 2c4b2c
4b8c2b 4c16b4c 16c16b4c 16c16b2c 4c4b 8b16c2b 4c8b2c 8b8c 8b4c 4b8c8b4c 2b8c8b2c 8c16b2c 8c8b 2b4c2b 16b16c2b 8b2c
4b8c8b2c 2b8c16b2c 2c8b16c2b 2b8c16b4c aCBde: 8b16c2b 16b16c 16c16b 4c8b8c4b 4c8b8c2b 2c8b16c2b 8b8c 4b4c aBcdef: 16b
4b 8b 32b aBCdef: 16b16c 16c16b 4c16b4c 2c8b4c 4c8b2c 2b4c2b 4c4b 4b4c 2c4b2c 4b8c2b 8b8c 8b4c 8c16b2c 4b8c8b4c
8b16c2b 8c8b 16c16b4c 16c16b2c 4b8c8b2c 8b2c 2b8c16b2c 2c8b16c2b 16b16c2b aCBdef: 8b16c2b 16c16b 4c8b8c4b 16b16c
4c8b8c2b 2c8b16c2b 8b8c 4b4c aBdc: 16b 4b 8b 32b 48b 64b 24b aBdC: 16b2c 16b4c 32b2c 32b4c 48b2c 48b4c 64b2c 64b4c
16c16b2c 16c16b4c 16c32b2c 16c32b4c 16c48b2c 16c48b4c 16c64b2c 16c64b4c 24b2c 8b2c 24b4c 8b4c aBdec: 16b 32b 4b 8b 48b
64b 24b aBdeC: 16b2c 16b4c 32b2c 32b4c 48b2c 48b4c 64b2c 64b4c 16c16b2c 16c16b4c 16c32b2c 16c32b4c 16c48b2c 16c48b4c
16c64b2c 16c64b4c 24b2c 8b2c 24b4c 8b4c aBdefc: 16b 4b 8b 32b 48b 64b 24b aBdefC: 16b2c 16b4c 32b2c 32b4c 48b2c 48b4c
64b2c 64b4c 16c16b2c 16c16b4c 16c32b2c 16c32b4c 16c48b2c 16c48b4c 16c64b2c 16c64b4c 24b2c 8b2c 24b4c 8b4c Abcdef: 16a
32a aBedc: 16b Acb: 16a 4a 8a 32a 48a 64a 24a AcB: 16a2b 16a4b 32a2b 32a4b 48a2b 48a4b 64a2b 64a4b 16b16a2b 16b16a4b
16b32a2b 16b32a4b 16b48a2b 16b48a4b 16b64a2b 16b64a4b 24a2b 8a2b 24a4b 8a4b 16b64a 16b48a 16b32a 16b16a 8b32a 8b24a
8b16a 8b8a 8b64a2b 8b32a2b 8b24a2b 8b16a2b 8b8a2b 4b64a4b 4b32a4b 4b24a4b 4b16a4b 4b8a4b Acdb: 16a 32a 4a 8a 48a 64a
24a AcdB: 16a2b 16a4b 32a2b 32a4b 48a2b 48a4b 64a2b 64a4b 16b16a2b 16b16a4b 16b32a2b 16b32a4b 16b48a2b 16b48a4b
16b64a2b 16b64a4b 24a2b 8a2b 24a4b 8a4b 16b64a 16b48a 16b32a 16b16a 8b32a 8b24a 8b16a 8b8a 8b64a2b 8b32a2b 8b24a2b
8b16a2b 8b8a2b 4b64a4b 4b32a4b 4b24a4b 4b16a4b 4b8a4b Acdeb: 16a 4a 8a 32a 48a 64a 24a AcdeB: 16a2b 16a4b 32a2b 32a4b
48a2b 48a4b 64a2b 64a4b 16b16a2b 16b16a4b 16b32a2b 16b32a4b 16b48a2b 16b48a4b 16b64a2b 16b64a4b 24a2b 8a2b 24a4b 8a4b
16b64a 16b48a 16b32a 16b16a 8b32a 8b24a 8b16a 8b8a 8b64a2b 8b32a2b 8b24a2b 8b16a2b 8b8a2b 4b64a4b 4b32a4b 4b24a4b
4b16a4b 4b8a4b Adcb: 16a AB: 16b16a 16b32a 16b64a 8b16a2b 8b32a2b 8b64a2b 4b16a4b 4b32a4b 4b64a4b 16b16a4b 32a32b8a4b
8a4b 32a32b8a2b 8a2b 16b32a4b 16b48a4b 16b64a4b 16b16a2b 16b32a2b 16b48a2b 16b64a2b 48a16b 48a32b 32a16b 32a32b 16a16b
16a32b 8b32a 8b24a 8b16a 8b8a 4b8a4b 4b24a4b 8b24a2b 8b8a2b 16b48a 2a4b abDc: 32d 16d abDC: 32d4c 16d4c 24d8c 8d8c
16d8c 12d8c 4d8c abdEc: 32e 16e abdEC: 32e2c 32e4c 64e2c 64e4c 16e4c cBa: 2b 4b adCb: 2c 4c cdBa: 2b 4b adeCb: 2c 4c
cdeBa: 2b 4b adefCb: 2c 4c aBC: 48b16c 48b32c 32b16c 32b32c 2b8c16b2c 16b16c 16b32c abCd: 32c 4c abdCe: 32c 16c abdCE:
32c2e BA: 16a16b2a 16a32b2a 16a48b2a 16a64b2a 16a16b4a 16a32b4a 16a48b4a 16a64b4a 4b8a8b2a 4b8a8b4a 4b8a16b2a
4b8a16b4a 16a16b 16a32b 16a48b 16a64b 16b2a 16b4a 4b4a 8b4a 2a24b 2a8b 8a24b 8a16b 8a8b 24b8a 8b8a 16b8a 12b8a 4b8a
decbA: 16a 8a 4a aCB: 4c8b8c2b 4c8b8c4b 4c8b16c2b 4c8b16c4b 16c2b 16c4b 16b16c 16b32c 16b48c 16b64c 16b16c2b 16b32c2b
16b48c2b 16b64c2b 16b16c4b 16b32c4b 16b48c4b 16b64c4b 2b24c 2b8c 8b24c 8b16c 8b8c 24c8b 8c8b 16c8b 12c8b 4c8b Acedb:
16a aBdfec: 16b abCde: 4c 32c abCdef: 4c 32c aCdefB: 16b32c2b 16b32c4b 16b48c2b 16b48c4b 16b64c2b 16b64c4b 32c2b 32c4b
48c2b 48c4b 64c2b 64c4b 16b16c2b 16b16c4b 16c2b 16c4b 8c2b 24c2b 8c4b 24c4b BcdeA: 16a32b2a 16a32b4a 16a48b2a 16a48b4a
16a64b2a 16a64b4a 32b2a 32b4a 48b2a 48b4a 64b2a 64b4a 16a16b2a 16a16b4a 16b2a 16b4a 8b2a 24b2a 8b4a 24b4a aCdefb: 32c
48c 64c 16c 8c 24c Bcdea: 32b 48b 64b 16b 8b 24b Bca: 32b 48b 64b 16b 8b 24b BcA: 32b2a 32b4a 48b2a 48b4a 64b2a 64b4a
16a16b2a 16a16b4a 16a32b2a 16a32b4a 16a48b2a 16a48b4a 16a64b2a 16a64b4a 16b2a 16b4a 8b2a 24b2a 8b4a 24b4a aCdb: 32c
48c 64c 16c 8c 24c aCdB: 32c2b 32c4b 48c2b 48c4b 64c2b 64c4b 16b16c2b 16b16c4b 16b32c2b 16b32c4b 16b48c2b 16b48c4b
16b64c2b 16b64c4b 16c2b 16c4b 8c2b 24c2b 8c4b 24c4b BcdA: 16a16b2a 16a16b4a 16a32b2a 16a32b4a 16a48b2a 16a48b4a
16a64b2a 16a64b4a 16b2a 16b4a 32b2a 32b4a 48b2a 48b4a 64b2a 64b4a 8b2a 24b2a 8b4a 24b4a aCdeB: 16b16c2b 16b16c4b
16b32c2b 16b32c4b 16b48c2b 16b48c4b 16b64c2b 16b64c4b 16c2b 16c4b 32c2b 32c4b 48c2b 48c4b 64c2b 64c4b 8c2b 24c2b 8c4b
24c4b Bcda: 16b 32b 48b 64b 8b 24b aCdeb: 16c 32c 48c 64c 8c 24c defcbA: 16a 8a 4a Ab: 4a 8a 32a bcad: . cabd: . dabc:
.
"""

_ALIASES = """
x: . nc: . cn: . tn: . nt: . ncw: . nwc: . nchw: . nhwc: . chwn: . ncdhw: . ndhwc: . oi: . io: . oiw: . owi: . wio: .
woi: . iwo: . oihw: . hwio: . hwoi: . ohwi: . ihwo: . iohw: . oidhw: . iodhw: . dhwio: . dhwoi: . odhwi: . idhwo: .
goiw: . gowi: . wigo: . goihw: . gohwi: . hwigo: . giohw: . goidhw: . godhwi: . giodhw: . dhwigo: . tnc: . ntc: .
ldnc: . ldigo: . ldgoi: . ldio: . ldoi: . ldgo: . ldOi: 16o 32o ldOI: 16o4i 32o4i ldIo: 32i ldgOi: 16o 32o ldgOI:
16o4i 32o2i 32o4i 64o2i 64o4i ldgIo: 16i 32i ldgIO: 32i2o nCdhw: 32c 16c 4c 8c nChw: 32c 16c 4c 8c nCw: 32c 16c 4c 8c
NCw: 16n16c 32n16c 32n32c 40n16c 40n32c 2c32n8c NCdhw: 16n16c 32n16c 32n32c 40n16c 40n32c 2c32n8c NChw: 16n16c 32n16c
16n32c 32n32c 40n16c 40n32c 2c32n8c OI: 16i16o 16i32o 16i48o 16i64o 8i8o2i 8i16o2i 8i24o2i 8i32o2i 8i64o2i 4i8o4i
4i16o4i 4i24o4i 4i32o4i 4i64o4i 16i16o4i 8i32o 8i24o 8i16o 8i8o 16i32o4i 16i48o4i 16i64o4i 16i16o2i 16i32o2i 16i48o2i
16i64o2i IOw: 4o4i 8o8i 16o16i 16i16o 8o16i2o 4i8o8i4o 4i8o8i2o 2i8o16i4o 2i8o16i2o OIw: 16i16o 16i32o 16i48o 16i64o
16o16i 4i8o4i 4i16o4i 4i24o4i 4i32o4i 4i64o4i 2i8o4i 16i16o4i 16i16o2i 16o16i2o 4i4o 4o4i 8i8o2i 8i16o2i 8i24o2i
8i32o2i 8i64o2i 8i8o 8o16i2o 8o8i 8o4i 8i32o 8i24o 8i16o 4o8i8o4i 16i32o4i 16i48o4i 16i64o4i 16i32o2i 16i48o2i
16i64o2i 4o8i8o2i 2i8o16i4o 2o8i16o4i 2o8i16o2i OwI: 16i16o 16i32o 16i48o 16i64o 4i8o4i 4i16o4i 4i24o4i 4i32o4i
4i64o4i 8i8o2i 8i16o2i 8i24o2i 8i32o2i 8i64o2i 8i8o 16o2i 16o4i 8o2i 8i32o 8i24o 8i16o 8o4i 24o2i 24o4i 32o2i 32o4i
48o2i 48o4i 64o2i 64o4i 16i16o2i 16i16o4i 16i32o2i 16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i Oiw: 16o 32o 4o 8o
Owi: 16o 4o 8o 24o 32o 48o 64o Iwo: 8i 16i 24i 32i 48i 64i IwO: 8i2o 8i4o 16i2o 16i4o 24i2o 24i4o 32i2o 32i4o 48i2o
48i4o 64i2o 64i4o 16o16i2o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o 16o64i4o IOhw: 16i16o 4o4i 8o8i
16o16i 8o16i2o 4i8o8i4o 4i8o8i2o 2i8o16i4o 2i8o16i2o Ohwi: 16o 24o 32o 4o 8o 48o 64o OhwI: 16o2i 16o4i 8o2i 8o4i
16i16o 16i32o 16i48o 16i64o 4i8o4i 4i16o4i 4i24o4i 4i32o4i 4i64o4i 8i8o2i 8i16o2i 8i32o2i 8i24o2i 8i64o2i 8i8o 8i32o
8i24o 8i16o 24o 24o2i 24o4i 32o 32o2i 32o4i 48o2i 48o4i 64o2i 64o4i 16i16o2i 16i16o4i 16i32o2i 16i32o4i 16i48o2i
16i48o4i 16i64o2i 16i64o4i Ihwo: 8i 16i 24i 32i 48i 64i IhwO: 8i2o 8i4o 16i2o 16i4o 24i2o 24i4o 32i2o 32i4o 48i2o
48i4o 64i2o 64i4o 16o16i2o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o 16o64i4o OIhw: 16i16o 16i32o 16i48o
16i64o 16o16i 4i8o4i 4i16o4i 4i24o4i 4i32o4i 4i64o4i 16i16o4i 16i16o2i 16o16i2o 4i4o 4o4i 8i8o2i 8i16o2i 8i32o2i
8i24o2i 8i64o2i 8i8o 8o16i2o 2i8o4i 8o8i 8o4i 8i32o 8i24o 8i16o 4o8i8o4i 2o8i8o2i 16i32o4i 16i48o4i 16i64o4i 16i32o2i
16i48o2i 16i64o2i 4o8i8o2i 2i8o16i4o 2o8i16o4i 2o8i16o2i Oihw: 16o 32o 4o 8o Owhi: 16o Odhwi: 16o 4o 8o 24o 32o 48o
64o OdhwI: 16o2i 16o4i 8o2i 8o4i 16i16o 16i32o 16i48o 16i64o 8i8o2i 8i16o2i 8i32o2i 8i24o2i 8i64o2i 8i8o 4i8o4i
4i16o4i 4i24o4i 4i32o4i 4i64o4i 8i32o 8i24o 8i16o 24o2i 24o4i 32o2i 32o4i 48o2i 48o4i 64o2i 64o4i 16i16o2i 16i16o4i
16i32o2i 16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i Idhwo: 8i 16i 24i 32i 48i 64i IdhwO: 8i2o 8i4o 16i2o 16i4o 24i2o
24i4o 32i2o 32i4o 48i2o 48i4o 64i2o 64i4o 16o16i2o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o 16o64i4o
Odwhi: 16o OIdhw: 16i16o 16i32o 16i48o 16i64o 16o16i 4i4o 4o4i 8i8o2i 8i16o2i 8i32o2i 8i24o2i 8i64o2i 8i8o 8o16i2o
4i8o4i 4i16o4i 4i24o4i 4i32o4i 4i64o4i 16i16o4i 16i16o2i 2i8o4i 8o8i 8o4i 4o8i8o4i 16o16i2o 8i32o 8i24o 8i16o 16i32o4i
16i48o4i 16i64o4i 16i32o2i 16i48o2i 16i64o2i 4o8i8o2i 2i8o16i4o 2o8i16o4i 2o8i16o2i Oidhw: 16o 32o 4o 8o IOdhw:
8o16i2o 16i16o 4o4i 8o8i 16o16i 4i8o8i4o 4i8o8i2o 2i8o16i4o 2i8o16i2o Goiw: 16g 8g 4g 32g gIOw: 4o4i 8o8i 16o16i
16i16o 8o16i2o 4i8o8i4o 4i8o8i2o 2i8o16i2o gOIw: 16i16o 16o16i 4i16o4i 2i8o4i 16i16o4i 16i16o2i 16o16i2o 4i4o 4o4i
8i16o2i 8i8o 8o16i2o 8o8i 8o4i 2i4o2i 2o4i2o 4i8o2i 4o8i2o 4o8i8o4i 4o8i8o2i 2o8i16o2i 2o8i16o4i gOiw: 16o 32o 4o 8o
gOwi: 16o 4o 8o 24o 32o 48o 64o gOwI: 16o2i 16o4i 8o2i 8o4i 24o2i 24o4i 32o2i 32o4i 48o2i 48o4i 64o2i 64o4i 16i16o2i
16i16o4i 16i32o2i 16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i gIwo: 8i 16i 24i 32i 48i 64i gIwO: 8i2o 8i4o 16i2o
16i4o 24i2o 24i4o 32i2o 32i4o 48i2o 48i4o 64i2o 64i4o 16o16i2o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o
16o64i4o goIw: 4i 32i gIOhw: 16i16o 4o4i 8o8i 16o16i 8o16i2o 4i8o8i4o 4i8o8i2o 2i8o16i2o gOhwi: 16o 32o 24o 4o 8o 48o
64o gOhwI: 16o2i 16o4i 24o2i 24o4i 8o2i 8o4i 24o 32o 32o2i 32o4i 48o2i 48o4i 64o2i 64o4i 16i16o2i 16i16o4i 16i32o2i
16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i gIhwo: 8i 16i 24i 32i 48i 64i gIhwO: 8i2o 8i4o 16i2o 16i4o 24i2o 24i4o
32i2o 32i4o 48i2o 48i4o 64i2o 64i4o 16o16i2o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o 16o64i2o 16o64i4o Goihw: 16g
8g 4g 32g gOIhw: 16i16o 16o16i 2i8o4i 4i16o4i 16i16o4i 16i16o2i 16o16i2o 4i4o 4o4i 8i16o2i 8i8o 8o16i2o 8o8i 8o4i
4o8i8o4i 2o8i8o2i 2i4o2i 2o4i2o 4i8o2i 4o8i2o 4o8i8o2i 2o8i16o2i 2o8i16o4i gOihw: 16o 32o 4o 8o gOwhi: 16o goIhw: 4i
32i gOIdhw: 4o8i8o4i 16i16o 4i16o4i 16i16o4i 2i8o4i 16i16o2i 16o16i 16o16i2o 4i4o 4o4i 8i16o2i 8i8o 8o16i2o 8o8i 8o4i
2i4o2i 4i8o2i 2o4i2o 4o8i2o 4o8i8o2i 2o8i16o2i gIOdhw: 4i8o8i4o 16i16o 4o4i 8o8i 16o16i 8o16i2o 4i8o8i2o 2i8o16i2o
gOdhwi: 16o 4o 8o 24o 32o 48o 64o gOdhwI: 16o2i 16o4i 8o2i 8o4i 24o2i 24o4i 32o2i 32o4i 48o2i 48o4i 64o2i 64o4i
16i16o2i 16i16o4i 16i32o2i 16i32o4i 16i48o2i 16i48o4i 16i64o2i 16i64o4i gIdhwo: 8i 16i 24i 32i 48i 64i gIdhwO: 8i2o
8i4o 16i2o 16i4o 24i2o 24i4o 32i2o 32i4o 48i2o 48i4o 64i2o 64i4o 16o16i2o 16o16i4o 16o32i2o 16o32i4o 16o48i2o 16o48i4o
16o64i2o 16o64i4o gOdwhi: 16o gOidhw: 16o 32o 4o 8o Goidhw: 16g 32g goIdhw: 4i 32i wIo: 2i 4i gwio: . gwIo: 2i 4i
hwIo: 2i 4i ghwio: . ghwIo: 2i 4i dhwIo: 2i 4i gdhwio: . gdhwIo: 2i 4i hwioG: 16g 8g 4g dhwioG: 16g 8g 4g
"""


@cache
def listed_names() -> tuple[str, ...]:
    """Every name of oneDNN's enumeration: the tags first, then the aliases."""
    names: list[str] = []
    for group in (_TAGS, _ALIASES):
        outer = ""
        for word in group.split():
            if word.endswith(":"):
                outer = word[:-1]
            else:
                names.append(outer if word == "." else outer + word)
    return tuple(names)
