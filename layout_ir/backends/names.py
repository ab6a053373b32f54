"""Names in generated C-family text: what a function may be called, and readable unique names of its locals."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from layout_ir.errors import LayoutError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEYWORDS = _words(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof bool complex constexpr false imaginary noreturn nullptr static_assert thread_local true typeof
    typeof_unqual asm and and_eq bitand bitor catch class compl const_cast delete dynamic_cast explicit export friend
    mutable namespace new not not_eq operator or or_eq private protected public reinterpret_cast static_cast template
    this throw try typeid typename using virtual wchar_t xor xor_eq concept requires decltype noexcept
    kernel global local constant half uchar ushort uint ulong read_only write_only read_write
    """  # the words of C23, C++20 (a header may be read by a C++ compiler), GNU C and OpenCL C
)

_MATHEMATICS = _words("""
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p
    log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint
    lround llround round trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma
    cabs carg cimag conj cproj creal cacos casin catan ccos csin ctan cexp clog cpow csqrt
""")

_LIBRARY = _words(
    """
    main abort abs aligned_alloc assert atexit atof atoi atol atoll bcmp bcopy bzero bsearch calloc clearerr div errno
    exit _Exit fclose feof ferror fflush fgetc fgets fopen fprintf fputc fputs fread free freopen fscanf fseek ftell
    fwrite getc getchar getenv gets imaxabs index isalnum isalpha isblank iscntrl isdigit isgraph islower isprint
    ispunct isspace isupper isxdigit labs ldiv llabs lldiv localtime longjmp malloc memchr memcmp memcpy memmove memset
    mktime offsetof perror printf putc putchar puts qsort quick_exit raise rand realloc remove rename rewind rindex
    scanf setbuf setjmp setvbuf signal snprintf sprintf srand sscanf strcasecmp strcat strchr strcmp strcoll strcpy
    strcspn strdup strerror strftime strlen strncat strncmp strncpy strndup strpbrk strrchr strspn strstr strtod strtof
    strtok strtol strtold strtoll strtoul strtoull strxfrm system time tmpfile tolower toupper ungetc vfprintf vprintf
    vsnprintf vsprintf alloca stdin stdout stderr linux unix i386 NULL EOF BUFSIZ RAND_MAX INFINITY NAN
    get_global_id get_local_id get_group_id min max clamp select read_imagef write_imagef barrier as_float as_uint
    """  # functions that compilers know by name, macros of the headers, built-in functions of OpenCL C
) | {name + suffix for name in _MATHEMATICS for suffix in ("", "f", "l")}

_RESERVED_PATTERN = re.compile(
    r"_.*|.*_t|LAYOUT_.*|layout_(stream|allocate)|[fiu]\d+x\d+(_unaligned)?|(float|double|u?char|u?short|u?int|u?long)\d+"
    r"|(U?INT|SIZE|PTRDIFF|FLT|DBL|LDBL|CHAR|CLK)_?.*",
    re.ASCII,
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LOOP_NAMES = ("i", "j", "k", "m", "n", "p", "q", "r")


def is_reserved(name: str) -> bool:
    """Whether an identifier has a meaning of its own in C, C++ or OpenCL C, in their libraries, or in our prelude."""
    return name in _KEYWORDS or name in _LIBRARY or _RESERVED_PATTERN.fullmatch(name) is not None


def function_name(name: str) -> str:
    """
    The name of a function, unchanged: callers look it up by what the IR says.

    Raises `LayoutError` if it is no identifier of C, or one that is reserved.
    """
    if _IDENTIFIER.fullmatch(name) is None:
        raise LayoutError(f"expected a function name of ASCII letters, digits and '_', got {name!a}")
    if is_reserved(name):
        raise LayoutError(f"expected a function name that is not reserved in C, got '{name}'; try '{name}_function'")
    return name


class Names:
    """Names of the locals of one function: unique within every scope and the scopes around it."""

    def __init__(self, taken: Iterable[str]) -> None:
        """`taken`: names of the file's scope, which no local may hide."""
        self._scopes: list[set[str]] = [set(taken)]

    def fresh(self, hint: str | None, default: str) -> str:
        """A new name, as near to `hint` (any text, or None for `default`) as the language and the scopes allow."""
        base = _identifier(hint) or default
        if is_reserved(base):
            base += "_"
        if is_reserved(base):  # "uint8_t" is reserved and so is every word that only adds to its front
            base = f"{base}value"
        number, name = 0, base
        while self._is_taken(name):
            number += 1
            name = f"{base}_{number}"
        self._scopes[-1].add(name)
        return name

    def fresh_index(self, hint: str | None) -> str:
        """A new name of a loop's index: `hint` or the first free one of i, j, k, ..."""
        free = (name for name in _LOOP_NAMES if not self._is_taken(name))
        return self.fresh(hint, next(free, _LOOP_NAMES[0]))

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names made inside are free again afterwards."""
        self._scopes.append(set())
        try:
            yield
        finally:
            self._scopes.pop()

    def _is_taken(self, name: str) -> bool:
        return any(name in scope for scope in self._scopes)


def _identifier(hint: str | None) -> str:
    text = re.sub(r"[^A-Za-z0-9_]+", "_", hint or "").strip("_")
    return f"v{text}" if text[:1].isdigit() else text
