// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 panels=true},layout-flatten,layout-outline-branches" -t c | filecheck %s --check-prefix=C

!planes = memref<?x64x?x?xf32>
!pixels = memref<?x64x?x?xf32, #layout.format<"NHWC">>

// a tile of many shuffles is one function for all loops that go by it, which say what it asks for, and how far apart
// rows of either side lie; those past the caches are ordered by who calls it
// CHECK-LABEL: func.func private @unknown_tile0(
// CHECK-SAME:    %from: index, %to: index, %asked: index, %from_step: index, %to_step: index
// CHECK-SAME:    attributes {no_inline, unfenced}
// CHECK:         {at_line, nontemporal = true}
// CHECK-LABEL: func.func private @unknown_tile1(
// CHECK-SAME:    %source: memref<?xf32>, %destination: memref<?xf32>, %from: index, %to: index, %asked: index
// CHECK-SAME:    attributes {no_inline}
// CHECK:         vector.load %source[%asked] {prefetch = 0 : index} : memref<?xf32>, vector<1xf32>
// CHECK-NEXT:    vector.load %source[%from] : memref<?xf32>, vector<16xf32>
// a multiple of a step is computed where it is used first
// CHECK-NEXT:    arith.muli %from_step
// CHECK:         vector.shuffle
// CHECK:         vector.store {{.*}}, %destination[%to] : memref<?xf32>, vector<16xf32>
// CHECK:         func.return
// CHECK-LABEL: func.func private @unknown_tile2(
// CHECK-SAME:    %written: index
// planes of 3 x 3 lie one behind the other, and those of few pixels are read in short rows
// CHECK-LABEL: func.func private @unknown_tile4(
// CHECK:         vector.load %source[%from] : memref<?xf32>, vector<16xf32>
// CHECK-NEXT:    affine.apply affine_map<(d0) -> ((d0 + 16))> (%from)
// CHECK-LABEL: func.func private @unknown_tile5(
// CHECK:         vector.load %source[%from] : memref<?xf32>, vector<8xf32>
// CHECK-LABEL: func.func @unknown(
// CHECK:         %h_w = arith.muli %h, %w : index
// CHECK:         func.call @unknown_tile0({{.*}}, %h_w, %{{[0-9]+}})
// CHECK:         func.call @unknown_tile1(
// CHECK:         func.call @unknown_tile2(
// CHECK:         func.call @unknown_tile3(
// CHECK:         func.call @unknown_tile4(
// CHECK:         func.call @unknown_tile5(
// CHECK:         func.call @unknown_tile5(
// CHECK:         func.return

// of a panel it does not know the size, and rows lie in pitches of either buffer
// C-LABEL: void unknown_tile0(
// C-NEXT:      const float *restrict source,
// C-NEXT:      float *restrict destination,
// C:           *(f32x16_unaligned *)&destination[to + to_step]
// C:         float panel[
// C:           unknown_tile0(x, panel, from,
func.func @unknown(%x: !planes, %y: !pixels) {
  layout.copy %x, %y : !planes to !pixels
  func.return
}
