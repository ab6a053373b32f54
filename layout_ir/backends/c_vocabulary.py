"""The reserved words of C, of C++ where it reads our headers, and of our own prelude."""

from __future__ import annotations

import re

from layout_ir.backends.names import Vocabulary

OUTLINED = "static __attribute__((noinline)) "
"""In front of a function that was outlined, which compilers are not to put back into the one that calls it."""

C_KEYWORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm
    """.split()  # noqa: SIM905 (a table of words reads better than a list of strings)
)
"""Of C up to C23, and the one that GNU C adds."""

_CPP_KEYWORDS = frozenset(
    """
    and and_eq bitand bitor catch class compl const_cast decltype delete dynamic_cast explicit export friend mutable
    namespace new noexcept not not_eq operator or or_eq private protected public reinterpret_cast static_cast template
    this throw try typeid typename using virtual wchar_t xor xor_eq concept requires co_await co_return co_yield
    char8_t char16_t char32_t consteval constinit
    """.split()  # noqa: SIM905
)

_MACROS_AND_CALLS = frozenset(
    """
    NULL EOF NAN INFINITY offsetof assert errno stdin stdout stderr linux unix i386 complex imaginary noreturn
    abort aligned_alloc free memcpy layout_stream layout_stream_at_line layout_store_part layout_allocate
    """.split()  # noqa: SIM905
)

_MATHEMATICS = """
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p
    log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint
    lround llround round trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma
    cabs carg cimag conj cproj creal cacos casin catan ccos csin ctan cexp clog cpow csqrt
""".split()  # noqa: SIM905

_LIBRARY = frozenset(
    """
    main abs alloca atexit atof atoi atol atoll bcmp bcopy bzero bsearch calloc clearerr div exit fclose feof ferror
    fflush ffs fgetc fgets fopen fprintf fputc fputs fread freopen fscanf fseek ftell fwrite getc getchar getenv gets
    imaxabs index isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit labs
    ldiv llabs lldiv localtime longjmp malloc memchr memcmp memmove memset mktime perror printf putc putchar puts qsort
    quick_exit raise rand realloc remove rename rewind rindex scanf setbuf setjmp setvbuf signal snprintf sprintf srand
    sscanf strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp
    strncpy strndup strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm
    system time tmpfile tolower toupper ungetc vfprintf vprintf vsnprintf vsprintf
    """.split()  # noqa: SIM905
)

C_VOCABULARY = Vocabulary(
    language="c",
    words=C_KEYWORDS | _CPP_KEYWORDS | _MACROS_AND_CALLS,
    functions=_LIBRARY | {name + suffix for name in _MATHEMATICS for suffix in ("", "f", "l")},
    pattern=re.compile(
        r"_.*|.*_t|LAYOUT_.*|[fiu]\d+x\d+(_unaligned)?|(U?INT|SIZE|PTRDIFF|FLT|DBL|LDBL|CHAR)_?\w*",
        re.ASCII,
    ),
)
