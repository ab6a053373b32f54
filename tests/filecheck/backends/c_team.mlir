// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64},layout-flatten" | filecheck %s --check-prefix LOOPS
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64},layout-flatten" -t c | filecheck %s --check-prefix TEXT
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64},layout-flatten" | layout-opt -t c | filecheck %s --check-prefix TEXT

!whole = memref<100x67xf32>
!blocks = memref<100x67xf32, #layout.tiled<(d0, d1) -> (d0, d1 floordiv 16, d1 mod 16)>>

// the same threads move whole blocks and then the rest, and wait for each other only between two copies
// LOOPS-LABEL: func.func @both(
// LOOPS:         "scf.parallel"
// LOOPS:         }) {nowait}
// LOOPS:         "scf.parallel"
// LOOPS-NOT:     nowait
// LOOPS:         "scf.parallel"
// LOOPS-NOT:     nowait

// TEXT-LABEL: void both(
// TEXT:       #pragma omp parallel{{$}}
// TEXT:       #pragma omp for nowait
// TEXT:       #pragma omp for{{$}}
// TEXT:       #pragma omp for nowait
// TEXT-NOT:   #pragma
func.func @both(%x: !whole, %y: !blocks, %z: !whole) {
  layout.copy %x, %y pad = 0.0 : f32 : !whole to !blocks
  layout.copy %y, %z : !blocks to !whole
  func.return
}
