"""What a C file needs before its functions; only what they use is printed."""

from __future__ import annotations

from dataclasses import dataclass, field

_FLOATS = """\
/* Elements are moved as they are. Where moving a float converts it (x87), a signalling NaN would change its bits. */
_Static_assert(FLT_EVAL_METHOD >= 0 && FLT_EVAL_METHOD != 2, "expected float moves that keep every bit");"""

_VECTORS = """\
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "expected GCC 12 or Clang, whose vectors have __builtin_shufflevector"
#endif"""

_ALLOCATE = """\
/* A kernel cannot report a failure, and must not write through a null pointer. */
static inline void *layout_allocate(size_t alignment, size_t bytes) {
  void *memory = aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (memory == NULL) abort();
  return memory;
}"""

_STREAM = """\
/* Part of a vector past the caches; not by <immintrin.h>, which takes as long to read as a kernel to compile. */
#if defined(__clang__)
#define LAYOUT_STREAM_PART(size, target, vector) { \\
    typedef long long part __attribute__((vector_size(size), may_alias)); \\
    typedef part loose __attribute__((aligned(1))); \\
    const part value = *(const loose *)(vector); \\
    __builtin_nontemporal_store(value, (part *)(target)); \\
  }
#else
#if defined(__AVX__)
#define LAYOUT_MOVNTDQ "vmovntdq"
#else
#define LAYOUT_MOVNTDQ "movntdq"
#endif
/* Nor by GCC's built-in functions: of 128 behind shuffles, it looks for half a second for what they are part of. */
#define LAYOUT_STREAM_PART(size, target, vector) { \\
    typedef long long part __attribute__((vector_size(size), may_alias)); \\
    typedef part loose __attribute__((aligned(1))); \\
    __asm__(LAYOUT_MOVNTDQ " {%1, %0|%0, %1}" : "=m"(*(part *)(target)) : "v"(*(const loose *)(vector))); \\
  }
#endif

/* A store past the caches of a vector that lies at a multiple of its size, in one instruction if there is one. */
static inline void layout_stream_at_line(char *target, const char *vector, size_t bytes) {
#if defined(__AVX512F__)
  if (bytes == 64) {
    LAYOUT_STREAM_PART(64, target, vector)
    return;
  }
#endif
#if defined(__AVX__)
  if (bytes == 32) {
    LAYOUT_STREAM_PART(32, target, vector)
    return;
  }
#endif
  size_t at = 0;
#if defined(__SSE2__) || defined(__clang__)
#if defined(__AVX512F__)
#pragma GCC unroll 8
  for (; at + 64 <= bytes; at += 64) LAYOUT_STREAM_PART(64, target + at, vector + at)
#endif
#if defined(__AVX__)
#pragma GCC unroll 8
  for (; at + 32 <= bytes; at += 32) LAYOUT_STREAM_PART(32, target + at, vector + at)
#endif
#pragma GCC unroll 8
  for (; at + 16 <= bytes; at += 16) LAYOUT_STREAM_PART(16, target + at, vector + at)
#endif
  memcpy(target + at, vector + at, bytes - at);
}
#define LAYOUT_STREAM_AT_LINE(pointer, vector) \\
  layout_stream_at_line((char *)(pointer), (const char *)&(vector), sizeof(vector))
#if defined(__SSE2__)
#define LAYOUT_FENCE() __builtin_ia32_sfence()
#else
#define LAYOUT_FENCE() ((void)0)
#endif"""

_STREAM_ANYWHERE = """\
/* The same of a vector that lies within its lines; of any other it would write lines in pieces. */
static inline void layout_stream(char *target, const char *vector, size_t bytes) {
  if ((uintptr_t)target % (bytes < 64 ? bytes : 64) == 0)
    layout_stream_at_line(target, vector, bytes);
  else
    memcpy(target, vector, bytes);
}
#define LAYOUT_STREAM(pointer, vector) layout_stream((char *)(pointer), (const char *)&(vector), sizeof(vector))"""


MASKED_BYTES = 64
"""Size of a vector whose first bytes are stored with a mask, where a processor has one."""

_PARTS = """\
/* The first bytes of a vector of 64. A store of none would still take the line from wherever it is. */
static inline void layout_store_part(void *target, const void *vector, size_t bytes) {
  if (bytes == 0) return;
#if defined(__AVX512BW__)
  const uint64_t mask = ~UINT64_C(0) >> (64 - bytes);
#if defined(__clang__)
  _mm512_mask_storeu_epi8(target, mask, _mm512_loadu_si512(vector));
#else
  typedef char loose __attribute__((vector_size(64), aligned(1), may_alias));
  __builtin_ia32_storedquqi512_mask(target, *(const loose *)vector, mask);
#endif
#else
  char *to = target;
  const char *from = vector; /* two moves each, which overlap: the C library's function takes longer to be called */
  if (bytes >= 32)
    memcpy(to, from, 32), memcpy(to + bytes - 32, from + bytes - 32, 32);
  else if (bytes >= 16)
    memcpy(to, from, 16), memcpy(to + bytes - 16, from + bytes - 16, 16);
  else if (bytes >= 8)
    memcpy(to, from, 8), memcpy(to + bytes - 8, from + bytes - 8, 8);
  else if (bytes >= 4)
    memcpy(to, from, 4), memcpy(to + bytes - 4, from + bytes - 4, 4);
  else
    to[0] = from[0], to[bytes / 2] = from[bytes / 2], to[bytes - 1] = from[bytes - 1];
#endif
}
#define LAYOUT_STORE_PART(target, vector, bytes) layout_store_part(target, vector, (size_t)(bytes))"""


@dataclass
class Prelude:
    """Collects what functions use while they are printed."""

    headers: set[str] = field(default_factory=lambda: {"stdint.h"})
    vector_types: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Name of a vector type to its element type and its size in bytes."""
    floats: bool = False
    allocations: bool = False
    streams: bool = False
    """Whether anything is stored past the caches."""
    streams_anywhere: bool = False
    """Whether some of it may lie anywhere."""
    parts: bool = False

    def text(self) -> str:
        """The prelude, with an empty line between its parts."""
        parts = [self._includes()]
        if self.floats:
            parts.append(_FLOATS)
        if self.vector_types:
            parts.append("\n".join([_VECTORS, *self._typedefs()]))
        if self.allocations:
            parts.append(_ALLOCATE)
        if self.streams:
            parts.append("\n".join([_STREAM, *([_STREAM_ANYWHERE] if self.streams_anywhere else [])]))
        if self.parts:
            parts.append(_PARTS)
        return "\n\n".join(parts) + "\n"

    def _includes(self) -> str:
        headers = set(self.headers)
        if self.floats:
            headers.add("float.h")
        if self.allocations:
            headers |= {"stddef.h", "stdlib.h"}
        if self.streams or self.parts:
            headers |= {"stddef.h", "string.h"}
        lines = [f"#include <{header}>" for header in sorted(headers)]
        if self.parts:
            lines += ["#if defined(__AVX512BW__) && defined(__clang__)", "#include <immintrin.h>", "#endif"]
        return "\n".join(lines)

    def _typedefs(self) -> list[str]:
        lines: list[str] = []
        for name, (element, size) in sorted(self.vector_types.items()):
            lines.append(f"typedef {element} {name} __attribute__((vector_size({size})));")
            lines.append(
                f"typedef {element} {name}_unaligned __attribute__((vector_size({size}), aligned(1), may_alias));"
            )
        return lines
