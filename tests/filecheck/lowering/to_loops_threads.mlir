// RUN: layout-opt %s -p "layout-to-loops{threads=true}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64}" | filecheck %s
// RUN: layout-opt %s -p layout-to-loops | filecheck %s --check-prefix ONE
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64 processor=zen-4}" | filecheck %s --check-prefix ROWS

!source = memref<8x64x64xf32>
!destination = memref<8x64x64xf32, #layout.tiled<(d0, d1, d2) -> (d0, d2, d1)>>

// one level of loops is shared by threads, the loops inside of it are not
// CHECK-LABEL: func.func @transposes(
// CHECK:         scf.parallel
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
// CHECK-NOT:     scf.parallel
// CHECK:         scf.reduce
// CHECK:         func.return

// ONE-LABEL: func.func @transposes(
// ONE-NOT:     scf.parallel
// ONE:         func.return
func.func @transposes(%x: !source, %y: !destination) {
  layout.copy %x, %y : !source to !destination
  func.return
}

// rows of 1024 bytes are too short for threads to write a part of each: whole rows are shared
// ROWS-LABEL: func.func @lines_of_short_rows(
// ROWS:         "scf.parallel"
// ROWS-NEXT:    ^{{.*}}(%a: index):
// ROWS:         scf.for %b1 =
func.func @lines_of_short_rows(%x: memref<256x256xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>>, %y: memref<256x256xf32>) {
  layout.copy %x, %y : memref<256x256xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>> to memref<256x256xf32>
  func.return
}

// rows of 2500 bytes are too short as well, and whole rows are shared though that leaves the last part short
// ROWS-LABEL: func.func @uneven_parts(
// ROWS:         "scf.parallel"
// ROWS-NEXT:    ^{{.*}}(%b: index):
func.func @uneven_parts(%x: memref<625x100xf32>, %y: memref<625x100xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>) {
  layout.copy %x, %y : memref<625x100xf32> to memref<625x100xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>
  func.return
}
