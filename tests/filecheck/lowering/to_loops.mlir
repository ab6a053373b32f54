// RUN: layout-opt %s -p layout-to-loops | filecheck %s

!a = memref<2x35x5x7xf32, #layout.format<"onednn:nChw16c">>
!b = memref<2x35x5x7xf32, #layout.format<"openvino:b_fs_yx_fsv4">>

// blocks of 16 and of 4 nest: no division is left, 32 channels are one nest and the last 3 with their pad another
// CHECK-LABEL: func.func @nested({{.*}} {
// CHECK-NOT:     {{floordiv|mod}}
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[X:.*]] = layout.storage %x : memref<2x35x5x7xf32, #layout.format<"onednn:nChw16c">> to memref<3360xf32>
// CHECK-NEXT:    %[[Y:.*]] = layout.storage %y : memref<2x35x5x7xf32, #layout.format<"openvino:b_fs_yx_fsv4">> to memref<2520xf32>
// CHECK-NEXT:    scf.for %a = %[[FIRST:.*]] to %[[TWO:.*]] step %[[ONE:.*]] {
// CHECK-NEXT:      scf.for %b2 = %[[FIRST]] to %[[TWO]] step %[[ONE]] {
// CHECK-NEXT:        scf.for %b1 = %[[FIRST]] to %[[FOUR:.*]] step %[[ONE]] {
// CHECK-NEXT:          scf.for %c_d = %[[FIRST]] to %[[PLANE:.*]] step %[[ONE]] {
// CHECK-NEXT:            scf.for %b0 = %[[FIRST]] to %[[FOUR]] step %[[ONE]] {
// CHECK-NEXT:              %[[FROM:.*]] = affine.apply affine_map<(d0, d1, d2, d3, d4) -> ((((((d0 * 1680) + (d1 * 560)) + (d2 * 4)) + (d3 * 16)) + d4))> (%a, %b2, %b1, %c_d, %b0)
// CHECK-NEXT:              %[[VALUE:.*]] = memref.load %[[X]][%[[FROM]]] : memref<3360xf32>
// CHECK-NEXT:              %[[TO:.*]] = affine.apply affine_map<(d0, d1, d2, d3, d4) -> ((((((d0 * 1260) + (d1 * 560)) + (d2 * 140)) + (d3 * 4)) + d4))> (%a, %b2, %b1, %c_d, %b0)
// CHECK-NEXT:              memref.store %[[VALUE]], %[[Y]][%[[TO]]] : memref<2520xf32>
// CHECK:         memref.store %[[ZERO]], %[[Y]]
// CHECK-NOT:     {{floordiv|mod}}
// CHECK:         func.return
func.func @nested(%x: !a, %y: !b) {
  layout.copy %x, %y : !a to !b
  func.return
}

!plain = memref<2x5xi8>
!blocked = memref<2x5xi8, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>
!rounded = memref<2x5xi8, #layout.tiled<(d0, d1) -> (d1, d0), round_up = [1, 8]>>

// the tail copies element 4 and fills the other three places of its block
// CHECK-LABEL: func.func @tail(
// CHECK:         memref.store %{{.*}}, %[[Y:.*]][%{{.*}}] : memref<16xi8>
// CHECK:         affine.apply affine_map<(d0) -> (((d0 * 5) + 4))>
// CHECK:         memref.store %{{.*}}, %[[Y]]
// CHECK:         scf.for %[[I:.*]] = %[[ONE:.*]] to %[[FOUR:.*]] step
// CHECK-NEXT:      %[[PLACE:.*]] = affine.apply affine_map<(d0, d1) -> ((((d0 * 4) + d1) + 8))> (%{{.*}}, %[[I]])
// CHECK-NEXT:      memref.store %[[PAD:.*]], %[[Y]][%[[PLACE]]] : memref<16xi8>
func.func @tail(%x: !plain, %y: !blocked) {
  layout.copy %x, %y : !plain to !blocked
  func.return
}

// CHECK-LABEL: func.func @a_pad_of_its_own(
// CHECK:         %[[PAD:.*]] = arith.constant -56 : i8
// CHECK:         memref.load
// CHECK:         memref.store
// CHECK:         memref.store %[[PAD]], %{{.*}}[%{{.*}}] : memref<16xi8>
// CHECK-NOT:     memref.store
// CHECK:         func.return
func.func @a_pad_of_its_own(%x: !plain, %y: !rounded) {
  layout.copy %x, %y pad = -56 : i8 : !plain to !rounded
  func.return
}

// CHECK-LABEL: func.func @pads_left_alone(
// CHECK-NOT:     arith.constant {{.*}} : i8
// CHECK:         memref.load
// CHECK-NEXT:    affine.apply
// CHECK-NEXT:    memref.store
// CHECK:         memref.load
// CHECK-NEXT:    affine.apply
// CHECK-NEXT:    memref.store
// CHECK-NOT:     memref.store
// CHECK:         func.return
func.func @pads_left_alone(%x: !plain, %y: !blocked) {
  layout.copy %x, %y pad = undef : !plain to !blocked
  func.return
}

!by48 = memref<200xf32, #layout.tiled<(d0) -> (d0 mod 48, d0 floordiv 48)>>
!by32 = memref<200xf32, #layout.tiled<(d0) -> (d0 mod 32, d0 floordiv 32)>>

// 48 and 32 meet in pieces of 16, six of them in a period of 96: each has its own constants
// CHECK-LABEL: func.func @blocks_that_do_not_nest(
// CHECK:         layout.storage %y : {{.*}} to memref<224xf32>
// CHECK-NOT:     {{floordiv|mod}}
// CHECK:         affine.apply affine_map<(d0, d1) -> (((d0 * 5) + (d1 * 2)))>
// CHECK:         affine.apply affine_map<(d0, d1) -> (((d0 * 7) + (d1 * 3)))>
// CHECK:         affine.apply affine_map<(d0, d1) -> ((((d0 * 5) + (d1 * 2)) + 160))>
// CHECK:         affine.apply affine_map<(d0, d1) -> ((((d0 * 7) + (d1 * 3)) + 1))>
// CHECK-NOT:     {{floordiv|mod}}
// CHECK:         func.return
func.func @blocks_that_do_not_nest(%x: !by48, %y: !by32) {
  layout.copy %x, %y pad = undef : !by48 to !by32
  func.return
}

!image = memref<1x5x2x3xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>
!gaps = memref<1x5x2x3xf16, strided<[64, 12, 6, 2], offset: 3>>

// an image is a buffer of rows of pixels; the gaps of a strided buffer are never written
// CHECK-LABEL: func.func @image_to_strides(
// CHECK-DAG:     layout.storage %x : {{.*}} to memref<48xf16>
// CHECK-DAG:     layout.storage %y : {{.*}} to memref<62xf16>
// CHECK:         affine.apply affine_map<(d0, d1, d2) -> (((d0 + (d1 * 24)) + (d2 * 4)))>
// CHECK:         affine.apply affine_map<(d0, d1, d2) -> (((((d0 * 12) + (d1 * 6)) + (d2 * 2)) + 3))>
// CHECK:         func.return
func.func @image_to_strides(%x: !image, %y: !gaps) {
  layout.copy %x, %y : !image to !gaps
  func.return
}

// an unsigned element moves as its bits
// CHECK-LABEL: func.func @unsigned(%x: memref<4xui8>, %y: memref<4xui8, strided<[2]>>) {
// CHECK:         layout.storage %x : memref<4xui8> to memref<4xi8>
// CHECK:         layout.storage %y : memref<4xui8, strided<[2]>> to memref<7xi8>
func.func @unsigned(%x: memref<4xui8>, %y: memref<4xui8, strided<[2]>>) {
  layout.copy %x, %y : memref<4xui8> to memref<4xui8, strided<[2]>>
  func.return
}

// CHECK-LABEL: func.func @nothing_to_move(
// CHECK-NOT:     memref.store
// CHECK:         func.return
func.func @nothing_to_move(%x: memref<0x3xf32>, %y: memref<0x3xf32, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<0x3xf32> to memref<0x3xf32, #layout.format<"CN">>
  func.return
}
