"""scf.parallel as C: OpenMP pragmas where several trips are left, and the same numbers with and without OpenMP."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Run = Callable[..., None]
Text = Callable[[str], str]

CONSTANTS = "\n".join(f"%c{value} = arith.constant {value} : index" for value in (0, 1, 3, 4))


def parallel(*loops: tuple[str, str]) -> str:
    count = len(loops)
    bounds = ", ".join(["%c0"] * count + [upper for upper, _ in loops] + ["%c1"] * count)
    arguments = ", ".join(f"%{name} : index" for _, name in loops)
    operands = ", ".join(f"%{name}" for _, name in loops)
    dims = ", ".join(f"d{number}" for number in range(count))
    index = " + ".join(f"d{number} * {8**number}" for number in range(count))
    return f"""func.func @f(%x : memref<512xi32>) {{
      {CONSTANTS}
      %value = arith.constant 1 : i32
      "scf.parallel"({bounds}) <{{operandSegmentSizes = array<i32: {count}, {count}, {count}, 0>}}> ({{
      ^bb0({arguments}):
        %to = affine.apply affine_map<({dims}) -> ({index})> ({operands})
        memref.store %value, %x[%to] : memref<512xi32>
        scf.reduce
      }}) : ({", ".join(["index"] * 3 * count)}) -> ()
      return
    }}"""


@pytest.mark.parametrize("flags", [("-pedantic",), ("-pedantic", "-fopenmp")])
@pytest.mark.parametrize(
    "loops, pragma",
    [
        ((("%c4", "i"),), "#pragma omp parallel for\n  for (int64_t i"),
        ((("%c4", "i"), ("%c3", "j")), "#pragma omp parallel for collapse(2)\n"),
        ((("%c1", "i"), ("%c3", "j")), "#pragma omp parallel for\n#endif\n  for (int64_t j"),
        ((("%c1", "i"), ("%c1", "j")), "{\n  x[0] = 1;"),
    ],
)
def test_parallel_loops(loops: tuple[tuple[str, str], ...], pragma: str, flags: tuple[str, ...], run: Run,
                        c_text: Text) -> None:  # fmt: skip
    ir = parallel(*loops)
    assert pragma.replace("for\n  for", "for\n#endif\n  for") in c_text(ir)
    x = np.zeros(512, np.int32)
    run(ir, "f", x, flags=flags)
    expected = np.zeros((8, 8, 8), np.int32)
    extents = [int(upper[2:]) for upper, _ in loops]
    expected[(0,) * (3 - len(loops)) + tuple(slice(extent) for extent in reversed(extents))] = 1
    assert x.tolist() == expected.reshape(-1).tolist()


@pytest.mark.parametrize("flags", [("-pedantic",), ("-pedantic", "-fopenmp")])
def test_a_loop_waits_for_what_the_one_before_it_writes(flags: tuple[str, ...], run: Run, c_text: Text) -> None:
    """Threads go on to the next loop together, unless the first says that they need not wait."""
    loop = """"scf.parallel"(%c0, %c512, %c1) <{{operandSegmentSizes = array<i32: 1, 1, 1, 0>}}> ({{
      ^bb0(%i : index):
        %from = affine.apply affine_map<(d0) -> (511 - d0)> (%i)
        %value = memref.load {0}[%from] : memref<512xi32>
        memref.store %value, {1}[%i] : memref<512xi32>
        scf.reduce
      }}) : (index, index, index) -> ()"""
    ir = f"""func.func @f(%x : memref<512xi32>, %y : memref<512xi32>, %z : memref<512xi32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c512 = arith.constant 512 : index
      {loop.format("%x", "%y")}
      {loop.format("%y", "%z")}
      return
    }}"""
    text = c_text(ir)
    assert text.count("#pragma omp parallel\n") == 1
    assert text.index("#pragma omp for\n") < text.index("#pragma omp for nowait\n")
    x = np.arange(512, dtype=np.int32)
    y, z = np.zeros_like(x), np.zeros_like(x)
    run(ir, "f", x, y, z, flags=flags)
    assert y.tolist() == x[::-1].tolist()
    assert z.tolist() == x.tolist()
