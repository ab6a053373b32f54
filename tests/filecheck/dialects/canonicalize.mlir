// RUN: layout-opt %s -p canonicalize | filecheck %s

!plain = tensor<2x3x8x8xf32>
!nhwc = tensor<2x3x8x8xf32, #layout.format<"NHWC">>
!blocked = tensor<2x3x8x8xf32, #layout.tiled<(n, c, h, w) -> (n, c floordiv 4, h, w, c mod 4)>>

// a reorder to the same type is nothing
// CHECK-LABEL: func.func @same_type(%x: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> {
// CHECK-NEXT: func.return %x : tensor<2x3x8x8xf32>
func.func @same_type(%x: !plain) -> !plain {
  %0 = layout.reorder %x : !plain to !plain
  func.return %0 : !plain
}

// to another spelling of the same function it is a cast
// CHECK-LABEL: func.func @same_function
// CHECK-NEXT: %0 = layout.cast %x : tensor<2x3x8x8xf32> to tensor<2x3x8x8xf32, #layout.format<"NCHW">>
// CHECK-NEXT: func.return %0
func.func @same_function(%x: !plain) -> tensor<2x3x8x8xf32, #layout.format<"NCHW">> {
  %0 = layout.reorder %x : !plain to tensor<2x3x8x8xf32, #layout.format<"NCHW">>
  func.return %0 : tensor<2x3x8x8xf32, #layout.format<"NCHW">>
}

// equality is of functions: with one channel NHWC is NCHW
// CHECK-LABEL: func.func @one_channel
// CHECK-NEXT: layout.cast
// CHECK-NEXT: func.return
func.func @one_channel(%x: tensor<2x1x8x8xf32>) -> tensor<2x1x8x8xf32, #layout.format<"NHWC">> {
  %0 = layout.reorder %x : tensor<2x1x8x8xf32> to tensor<2x1x8x8xf32, #layout.format<"NHWC">>
  func.return %0 : tensor<2x1x8x8xf32, #layout.format<"NHWC">>
}

// there and back is nothing
// CHECK-LABEL: func.func @round_trip
// CHECK-NEXT: func.return %x : tensor<2x3x8x8xf32>
func.func @round_trip(%x: !plain) -> !plain {
  %0 = layout.reorder %x : !plain to !nhwc
  %1 = layout.reorder %0 : !nhwc to !plain
  func.return %1 : !plain
}

// a chain is one reorder, with the pads of its last link
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %0 = layout.reorder %x pad = 1.000000e+00 : f32 {note} : tensor<2x3x8x8xf32> to tensor<2x3x8x8xf32, #layout.tiled<{{.*}}>>
// CHECK-NEXT: func.return %0
func.func @chain(%x: !plain) -> !blocked {
  %0 = layout.reorder %x : !plain to !nhwc
  %1 = layout.reorder %0 pad = undef : !nhwc to !blocked
  %2 = layout.reorder %1 : !blocked to !nhwc
  %3 = layout.reorder %2 pad = 1.0 : f32 {note} : !nhwc to !blocked
  func.return %3 : !blocked
}

// an intermediate result that is used on its own stays
// CHECK-LABEL: func.func @two_uses
// CHECK-NEXT: %0 = layout.reorder %x
// CHECK-NEXT: func.return %0, %x
func.func @two_uses(%x: !plain) -> (!nhwc, !plain) {
  %0 = layout.reorder %x : !plain to !nhwc
  %1 = layout.reorder %0 : !nhwc to !plain
  func.return %0, %1 : !nhwc, !plain
}

// pads are part of the promise: those of an argument hold zero
// CHECK-LABEL: func.func @pads_of_an_argument
// CHECK-NEXT: %0 = layout.reorder %x pad = 1.000000e+00 : f32 : {{.*}}
// CHECK-NEXT: func.return %x, %x, %0
func.func @pads_of_an_argument(%x: !blocked) -> (!blocked, !blocked, !blocked) {
  %0 = layout.reorder %x : !blocked to !blocked
  %1 = layout.reorder %x pad = undef : !blocked to !blocked
  %2 = layout.reorder %x pad = 1.0 : f32 : !blocked to !blocked
  func.return %0, %1, %2 : !blocked, !blocked, !blocked
}

// the same pads again are nothing new
// CHECK-LABEL: func.func @same_pads
// CHECK-NEXT: %0 = layout.reorder %x : {{.*}}
// CHECK-NEXT: func.return %0, %0
func.func @same_pads(%x: !plain) -> (!blocked, !blocked) {
  %0 = layout.reorder %x : !plain to !blocked
  %1 = layout.reorder %0 : !blocked to !blocked
  func.return %0, %1 : !blocked, !blocked
}

// casts of casts are one, back to the start none
// CHECK-LABEL: func.func @casts
// CHECK-NEXT: %0 = layout.cast %x : tensor<2x3x8x8xf32> to tensor<2x3x8x8xf32, #layout.format<"NCHW">>
// CHECK-NEXT: func.return %0, %x
func.func @casts(%x: !plain) -> (tensor<2x3x8x8xf32, #layout.format<"NCHW">>, !plain) {
  %0 = layout.cast %x : !plain to tensor<2x3x8x8xf32, strided<[192, 64, 8, 1]>>
  %1 = layout.cast %0 : tensor<2x3x8x8xf32, strided<[192, 64, 8, 1]>> to tensor<2x3x8x8xf32, #layout.format<"NCHW">>
  %2 = layout.cast %1 : tensor<2x3x8x8xf32, #layout.format<"NCHW">> to !plain
  func.return %1, %2 : tensor<2x3x8x8xf32, #layout.format<"NCHW">>, !plain
}

// buffers are cast too, and what is unused goes
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT: "test.op"(%x) : (memref<4x8xf32>) -> ()
// CHECK-NEXT: func.return
func.func @buffers(%x: memref<4x8xf32>) {
  %0 = layout.cast %x : memref<4x8xf32> to memref<4x8xf32, strided<[8, 1]>>
  %1 = layout.cast %0 : memref<4x8xf32, strided<[8, 1]>> to memref<4x8xf32>
  %2 = layout.storage %0 : memref<4x8xf32, strided<[8, 1]>> to memref<32xf32>
  "test.op"(%1) : (memref<4x8xf32>) -> ()
  func.return
}

// an open layout is nobody's equal, but does not stand in the way
// CHECK-LABEL: func.func @open
// CHECK-NEXT: %0 = layout.reorder %x : tensor<2x3x8x8xf32> to tensor<2x3x8x8xf32, #layout.any>
// CHECK-NEXT: func.return %0, %x
func.func @open(%x: !plain) -> (tensor<2x3x8x8xf32, #layout.any>, !plain) {
  %0 = layout.reorder %x : !plain to tensor<2x3x8x8xf32, #layout.any>
  %1 = layout.reorder %0 : tensor<2x3x8x8xf32, #layout.any> to !plain
  func.return %0, %1 : tensor<2x3x8x8xf32, #layout.any>, !plain
}
