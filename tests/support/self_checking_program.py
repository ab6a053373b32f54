"""
A C program that runs kernels on its own and says which of them are wrong: for other processors and for sanitizers.

What the kernels read and what they must have written comes from the numpy interpreter, in a file.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reorder_batch import SENTINEL, Reorder
from varied_reorders import Variant, c_text, source_and_expected

from layout_ir.layouts.element_type import element_type

MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = %(guard)d, SENTINEL = %(sentinel)d, VARIANTS = %(variants)d };
typedef void kernel(const void *, void *);
struct reorder { size_t element, source, destination; kernel *kernels[VARIANTS]; };

%(prototypes)s

static const struct reorder reorders[] = {
%(table)s
};

/* Exactly as many bytes as are asked for, so that a sanitizer sees the first one behind them. */
static unsigned char *allocate(size_t bytes) {
  void *memory;
  if (posix_memalign(&memory, 64, bytes)) abort();
  return memory;
}

/* Whether a kernel wrote what it must and nothing else, on buffers that start some elements behind a line. */
static int is_right(const struct reorder *reorder, kernel *run, const unsigned char *values,
                    const unsigned char *expected, size_t source_shift, size_t destination_shift) {
  const size_t source_start = source_shift * reorder->element;
  const size_t start = GUARD + destination_shift * reorder->element;
  const size_t bytes = start + reorder->destination + GUARD;
  unsigned char *source = allocate(source_start + reorder->source), *field = allocate(bytes);
  memcpy(source + source_start, values, reorder->source);
  memset(field, SENTINEL, bytes);
  run(source + source_start, field + start);
  int same = !memcmp(source + source_start, values, reorder->source);
  same &= !memcmp(field + start, expected, reorder->destination);
  for (size_t i = 0; i < start; i++) same &= field[i] == SENTINEL;
  for (size_t i = start + reorder->destination; i < bytes; i++) same &= field[i] == SENTINEL;
  free(source);
  free(field);
  return same;
}

int main(int count, char **arguments) {
  FILE *data = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (data == NULL) return 2;
  size_t runs = 0, faults = 0;
  for (size_t i = 0; i < sizeof(reorders) / sizeof(*reorders); i++) {
    const struct reorder *reorder = &reorders[i];
    unsigned char *values = allocate(reorder->source), *expected = allocate(reorder->destination);
    if (fread(values, 1, reorder->source, data) != reorder->source) return 2;
    if (fread(expected, 1, reorder->destination, data) != reorder->destination) return 2;
    for (size_t v = 0; v < VARIANTS; v++)
      for (size_t shifts = 0; shifts < 4; shifts++, runs++)
        if (!is_right(reorder, reorder->kernels[v], values, expected, shifts & 1, shifts >> 1)) {
          printf("wrong %%zu %%zu %%zu %%zu\\n", i, v, shifts & 1, shifts >> 1);
          faults++;
        }
    free(values);
    free(expected);
  }
  fclose(data);
  printf("ran %%zu\\n", runs);
  return faults != 0;
}
"""


def self_check(
    compiler: Sequence[str],
    runner: Sequence[str],
    reorders: tuple[Reorder, ...],
    variants: Sequence[Variant],
    folder: Path,
    guard: int,
) -> None:
    """
    Build the program with `compiler`, run it by `runner`, and fail with what it has to say.

    Every reorder runs in every variant, with source and destination at a line and one element behind it. `guard`: bytes
    around destinations that must keep their value; 0 for a sanitizer that watches them.
    """
    with ThreadPoolExecutor(2) as pool:
        sources = [folder / "main.c"]
        sources[0].write_text(_main(reorders, len(variants), guard))
        for number, variant in enumerate(variants):
            sources.append(folder / f"variant_{number}.c")
            sources[-1].write_text(c_text(reorders, variant).replace("case_", f"variant_{number}_case_"))
        for message in pool.map(
            lambda source: _output(*compiler, "-c", source, "-o", source.with_suffix(".o")), sources
        ):
            assert not message, message
    program = folder / "program"
    _output(*compiler, *(source.with_suffix(".o") for source in sources), "-o", program)
    _write_data(reorders, folder / "data")
    result = subprocess.run([*runner, program, folder / "data"], capture_output=True, text=True, check=False)
    lines = [_explained(line, reorders, variants) for line in result.stdout.splitlines()]
    report = "\n".join([f"exit status {result.returncode}", *lines, result.stderr[:8000]])
    assert result.returncode == 0, report
    assert lines == [f"ran {len(reorders) * len(variants) * 4}"], report


def _output(*command: str | Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stderr[:4000]}"
    return result.stdout + result.stderr


def _explained(line: str, reorders: Sequence[Reorder], variants: Sequence[Variant]) -> str:
    if not line.startswith("wrong "):
        return line
    number, variant, source, destination = map(int, line.split()[1:])
    return f"wrong: {reorders[number]}, {variants[variant]}, shifted by {source} and {destination} elements"


def _main(reorders: Sequence[Reorder], variants: int, guard: int) -> str:
    prototypes: list[str] = []
    table: list[str] = []
    for number, case in enumerate(reorders):
        names = [f"variant_{variant}_case_{number}" for variant in range(variants)]
        prototypes += [f"kernel {name};" for name in names]
        sizes = [array.nbytes for array in source_and_expected(case, number)]
        table.append(f"  {{{element_type(case.dtype).bytes}, {sizes[0]}, {sizes[1]}, {{{', '.join(names)}}}}},")
    return MAIN % {
        "guard": guard,
        "sentinel": SENTINEL,
        "variants": variants,
        "prototypes": "\n".join(prototypes),
        "table": "\n".join(table),
    }


def _write_data(reorders: Sequence[Reorder], path: Path) -> None:
    with path.open("wb") as data:
        for number, case in enumerate(reorders):
            for array in source_and_expected(case, number):
                data.write(array.tobytes())
