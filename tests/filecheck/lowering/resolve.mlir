// RUN: layout-opt %s -p layout-resolve | filecheck %s
// RUN: layout-opt %s -p layout-resolve,layout-resolve | filecheck %s

// CHECK-LABEL: func.func @plain(%x: tensor<2x3x8x8xf32, #layout.tiled<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>>, %k: i32) -> memref<3x2xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>
// CHECK-NEXT: %y = layout.reorder %x : tensor<2x3x8x8xf32, #layout.tiled<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>> to tensor<2x3x8x8xf32, #layout.tiled<(d0, d1, d2, d3) -> (d2, d3, d0, d1)>>
func.func @plain(%x: tensor<2x3x8x8xf32, #layout.format<"NHWC">>, %k: i32) -> memref<3x2xf32, #layout.format<"CN">> {
  %y = layout.reorder %x : tensor<2x3x8x8xf32, #layout.format<"NHWC">> to tensor<2x3x8x8xf32, #layout.format<"HWNC">>
  %r = "test.op"() : () -> memref<3x2xf32, #layout.format<"CN">>
  func.return %r : memref<3x2xf32, #layout.format<"CN">>
}

// CHECK-LABEL: func.func private @declaration(tensor<2x3x8x8xf32, #layout.tiled<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>>)
func.func private @declaration(tensor<2x3x8x8xf32, #layout.format<"NHWC">>)

// the order in which the dims are given is an option
// CHECK-LABEL: func.func private @dims(tensor<8x8x3x2xf32, #layout.tiled<(d0, d1, d2, d3) -> (d3, d2, d0, d1)>>)
func.func private @dims(tensor<8x8x3x2xf32, #layout.format<"NCHW", dims = "HWCN">>)

// CHECK-LABEL: func.func private @onednn(tensor<2x17x8x8xf32, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1 floordiv 16, d2, d3, d1 mod 16)>>)
func.func private @onednn(tensor<2x17x8x8xf32, #layout.format<"onednn:nChw16c">>)

// blocks with strides of their own have no explicit form, so they keep the name; strides alone are strided
// CHECK-LABEL: func.func private @onednn_strides(tensor<2x17x8x8xf32, #layout.format<"onednn:nChw16c", strides = [4096, 1024, 128, 16]>>, tensor<2x3xf32, strided<[3, 1], offset: 5>>)
func.func private @onednn_strides(tensor<2x17x8x8xf32, #layout.format<"onednn:nChw16c", strides = [4096, 1024, 128, 16]>>, tensor<2x3xf32, #layout.format<"onednn:ab", strides = [3, 1], offset = 5>>)

// CHECK-LABEL: func.func private @openvino(tensor<2x17x8x8xf16, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1 floordiv 16, d2, d3, d1 mod 16)>>)
func.func private @openvino(tensor<2x17x8x8xf16, #layout.format<"openvino:b_fs_yx_fsv16">>)

// the block of Ascend's formats follows from the element type
// CHECK-LABEL: func.func private @ascend(tensor<2x17x8x8xf16, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1 floordiv 16, d2, d3, d1 mod 16)>>, tensor<2x33x8x8xi8, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1 floordiv 32, d2, d3, d1 mod 32)>>)
func.func private @ascend(tensor<2x17x8x8xf16, #layout.format<"ascend:NC1HWC0">>, tensor<2x33x8x8xi8, #layout.format<"ascend:NC1HWC0">>)

// CHECK-LABEL: func.func private @cudnn(tensor<2x8x4x4xi8, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1 floordiv 4, d2, d3, d1 mod 4)>>)
func.func private @cudnn(tensor<2x8x4x4xi8, #layout.format<"cudnn:NCHW_VECT_C4">>)

// CHECK-LABEL: func.func private @mace(tensor<1x4x6x5xf32, #layout.tiled<(d0, d1, d2, d3) -> ({{.*}}), image>>)
func.func private @mace(tensor<1x4x6x5xf32, #layout.format<"mace:IN_OUT_CHANNEL">>)

// types without a name stay, whatever they hold
// CHECK-LABEL: func.func private @others(tensor<?xf32>, memref<*xf32>, tensor<4xf32, strided<[2]>>, f32, vector<4xf32>)
func.func private @others(tensor<?xf32>, memref<*xf32>, tensor<4xf32, strided<[2]>>, f32, vector<4xf32>)
