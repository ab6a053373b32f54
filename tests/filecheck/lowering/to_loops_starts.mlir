// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64}" | filecheck %s

// in the caches, tiles that leave parts of lines go along the destination, so that the next one writes the rest at once
// CHECK-LABEL: func.func @known(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[LINE:.*]] = arith.constant 64 : index
// CHECK:         %[[Y:[a-z0-9_]+]] = layout.storage %y
// CHECK-NEXT:    %[[ADDRESS:.*]] = "memref.extract_aligned_pointer_as_index"(%[[Y]])
// CHECK-NEXT:    %[[BEHIND:.*]] = arith.remui %[[ADDRESS]], %[[LINE]] : index
// CHECK-NEXT:    %[[AT_LINE:.*]] = arith.cmpi eq, %[[BEHIND]], %[[ZERO]] : index
// CHECK-NEXT:    scf.if %[[AT_LINE]] {
// CHECK-NEXT:      scf.for %a =
// CHECK-NEXT:        scf.for %b =
// CHECK:           } else {
// CHECK-NEXT:      scf.for %b_{{[0-9]+}} =
// CHECK-NEXT:        scf.for %a_{{[0-9]+}} =
// CHECK:         func.return
func.func @known(%x: memref<128x192xf32>, %y: memref<128x192xf32, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<128x192xf32> to memref<128x192xf32, #layout.format<"CN">>
  func.return
}

!pixels = memref<?x64x?x?xf32, #layout.format<"NHWC">>
!planes = memref<?x64x?x?xf32>

// of unknown extents, once more: where planes are whole lines, and where they are not
// CHECK-LABEL: func.func private @unknown_tile0(
// CHECK:         {at_line, nontemporal = true}
// CHECK-LABEL: func.func @unknown(
// CHECK:         %h_w = arith.muli %h, %w : index
// CHECK:         %[[Y:[a-z0-9_]+]] = layout.storage %y
// CHECK:         %[[LARGE:.*]] = arith.cmpi uge, %n_h_w_x64
// CHECK-NEXT:    scf.if %[[LARGE]] {
// CHECK:           func.call @unknown_tile0(
// CHECK:         %[[REST:.*]] = arith.remui %h_w
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]]
// CHECK-NEXT:    scf.if %[[WHOLE]] {
// CHECK-NEXT:      %[[ADDRESS:.*]] = "memref.extract_aligned_pointer_as_index"(%[[Y]])
// CHECK-NEXT:      %[[BEHIND:.*]] = arith.remui %[[ADDRESS]]
// CHECK-NEXT:      %[[AT_LINE:.*]] = arith.cmpi eq, %[[BEHIND]]
// CHECK-NEXT:      scf.if %[[AT_LINE]] {
// CHECK-NEXT:        scf.for %a_
// CHECK-NEXT:          scf.for %c_d_
// CHECK-NEXT:            scf.for %b_
// CHECK:               func.call @unknown_tile
// CHECK:             } else {
// CHECK-NEXT:        scf.for %a_
// CHECK-NEXT:          scf.for %b_
// CHECK-NEXT:            scf.for %c_d_
// CHECK:               func.call @unknown_tile
// CHECK:           } else {
// CHECK:             vector<8xf32>
// CHECK:         func.return
func.func @unknown(%x: !pixels, %y: !planes) {
  layout.copy %x, %y : !pixels to !planes
  func.return
}

!blocked = memref<?x64x?x?xf32, #layout.format<"onednn:nChw16c">>

// rows of the source: whole lines of them where they are multiples of a line, so that no tile has to be moved back
// CHECK-LABEL: func.func private @rows_tile0(
// CHECK:         {at_line, nontemporal = true}
// CHECK-LABEL: func.func @rows(
// CHECK:         func.call @rows_tile0(
// CHECK:         %[[REST:.*]] = arith.remui %h_w
// CHECK-NEXT:    %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]]
// CHECK-NEXT:    scf.if %[[WHOLE]] {
// CHECK-NOT:       arith.minui %c_d
// CHECK:           func.call @rows_tile
// CHECK-NOT:       arith.minui %c_d
// CHECK:         } else {
// CHECK:           arith.minui %c_d
// CHECK:           vector.load {{.*}} vector<8xf32>
// CHECK:         func.return
func.func @rows(%x: !planes, %y: !blocked) {
  layout.copy %x, %y : !planes to !blocked
  func.return
}

// what is beyond the elements of the last block may be read, whatever the sizes are
// CHECK-LABEL: func.func @within_blocks(
// CHECK:         vector.load {{.*}} vector<4xf32>
// CHECK:         func.return
func.func @within_blocks(%x: memref<?x3x?x?xf32, #layout.format<"onednn:nChw16c">>, %y: memref<?x3x?x?xf32>) {
  layout.copy %x, %y : memref<?x3x?x?xf32, #layout.format<"onednn:nChw16c">> to memref<?x3x?x?xf32>
  func.return
}

!pixels_of_halves = memref<?x128x?x?xf16, #layout.format<"NHWC">>
!blocks_of_halves = memref<?x128x?x?xf16, #layout.format<"onednn:nChw16c">>

// two pixels of a block are a line: whole lines in the caches as well, for any even number of pixels
// CHECK-LABEL: func.func @pairs_of_pixels(
// CHECK:         } else {
// CHECK:           %[[PAIRS:.*]] = arith.remui %h_w_x16, %{{.*}} : index
// CHECK-NEXT:      %[[WHOLE:.*]] = arith.cmpi eq, %[[PAIRS]], %{{.*}} : index
// CHECK-NEXT:      scf.if %[[WHOLE]] {
// CHECK:             vector.store %{{.*}} : memref<?xf16>, vector<32xf16>
// CHECK:           vector.store %{{.*}} : memref<?xf16>, vector<16xf16>
func.func @pairs_of_pixels(%x: !pixels_of_halves, %y: !blocks_of_halves) {
  layout.copy %x, %y : !pixels_of_halves to !blocks_of_halves
  func.return
}
