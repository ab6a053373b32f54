// RUN: layout-opt %s -p "layout-to-loops{threads=true}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64}" | filecheck %s
// RUN: layout-opt %s -p layout-to-loops | filecheck %s --check-prefix ONE

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
