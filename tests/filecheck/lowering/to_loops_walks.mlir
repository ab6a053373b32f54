// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 stream_bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 threads=true stream_bytes=0}" | filecheck %s --check-prefix THREADS
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64}" | filecheck %s --check-prefix SMALL

!pixels = memref<2x35x20x30xf32, #layout.format<"NHWC">>
!blocks = memref<2x35x20x30xf32, #layout.format<"onednn:nChw16c">>

// two whole blocks of channels and the three that are left over read the same lines: 64 pixels go one way, then the
// other, as long as they are near; the last 24 of 600 pixels have loops of their own
// CHECK-LABEL: func.func @left_over(
// CHECK:         scf.for %a_part = %{{.*}} to
// CHECK-NEXT:      scf.for %c_d_part =
// CHECK-NEXT:        scf.for %c_d =
// CHECK:               vector.load
// CHECK:               vector.store %{{.*}} {nontemporal = true}
// CHECK:             scf.for %c_d_1 =
// CHECK:               vector.shuffle
// CHECK:         scf.for %a =
// CHECK:         scf.for %a_1 =
// CHECK-NOT:     _part

// THREADS-LABEL: func.func @left_over(
// THREADS:         "scf.parallel"
// THREADS-NEXT:      ^bb0(%c_d_part: index):
// THREADS-NEXT:        scf.for %a_part =

// in the caches too, with ordinary stores
// SMALL-LABEL: func.func @left_over(
// SMALL:         scf.for %a_part = %{{.*}} to
// SMALL-NEXT:      scf.for %c_d_part =
// SMALL-NOT:     nontemporal
func.func @left_over(%x: !pixels, %y: !blocks) {
  layout.copy %x, %y : !pixels to !blocks
  func.return
}

// there, boxes that write the same lines go together as well: what is left over by scalar loops
// SMALL-LABEL: func.func @left_over_of_destination(
// SMALL:         scf.for %a_part = %{{.*}} to
// SMALL-NEXT:      scf.for %c_d_part =
// SMALL-NEXT:        scf.for %c_d =
// SMALL:               vector.load
// SMALL:               vector.store
// SMALL:             scf.for %c_d_1 =
// SMALL-NEXT:          scf.for %b =
// SMALL:                 memref.load
func.func @left_over_of_destination(%x: !blocks, %y: !pixels) {
  layout.copy %x, %y : !blocks to !pixels
  func.return
}

!any_pixels = memref<?x35x?x?xf32, #layout.format<"NHWC">>
!any_blocks = memref<?x35x?x?xf32, #layout.format<"onednn:nChw16c">>

// of unknown sizes, where a kernel finds the destination large, at a line, and images of two parts at least: there the
// last part ends with the image, and its last tile is moved back
// CHECK-LABEL: func.func @left_over_of_any_size(
// CHECK:         scf.if
// CHECK:           scf.for %a_part = %{{.*}} to
// CHECK-NEXT:        scf.for %c_d_part = %{{.*}} to
// CHECK:               [[END:%.*]] = arith.minui %{{.*}}, %h_w
// CHECK-NEXT:          scf.for %c_d = %c_d_part to [[END]]
// CHECK:                 vector.store %{{.*}} {at_line, nontemporal = true}
// CHECK:               scf.for %c_d_1 = %c_d_part to
// CHECK-NEXT:            arith.minui %c_d_1,
// CHECK:         } else {
func.func @left_over_of_any_size(%x: !any_pixels, %y: !any_blocks) {
  layout.copy %x, %y : !any_pixels to !any_blocks
  func.return
}
