// RUN: layout-opt %s | layout-opt | filecheck %s

// every layout is a tensor's encoding and a buffer's layout

// CHECK: %named = "test.op"() : () -> tensor<2x3x8x8xf32, #layout.format<"NHWC">>
%named = "test.op"() : () -> tensor<2x3x8x8xf32, #layout.format<"NHWC">>
// CHECK-NEXT: %options = "test.op"() : () -> memref<8x8x3x32xf16, #layout.format<"ascend:FRACTAL_Z", dims = "HWCN", groups = 2, c0 = 16>>
%options = "test.op"() : () -> memref<8x8x3x32xf16, #layout.format<"ascend:FRACTAL_Z", c0 = 16, groups = 2, dims = "HWCN">>
// CHECK-NEXT: %strides = "test.op"() : () -> memref<2x3xf32, #layout.format<"onednn:ab", strides = [16, 1], offset = 4>>
%strides = "test.op"() : () -> memref<2x3xf32, #layout.format<"onednn:ab", strides = [16, 1], offset = 4>>

// the dims of an explicit layout may have any names, parentheses are as few as possible
// CHECK-NEXT: %tiled = "test.op"() : () -> tensor<2x3x8x8xf32, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1 floordiv 4, d2 * 8 + d3, d1 mod 4)>>
%tiled = "test.op"() : () -> tensor<2x3x8x8xf32, #layout.tiled<(n, c, h, w) -> (n, (c) floordiv 4, ((h * 8) + w), c mod 4)>>
// CHECK-NEXT: %rounded = "test.op"() : () -> tensor<3x5xi8, #layout.tiled<(d0, d1) -> (d0, d1), round_up = [1, 4]>>
%rounded = "test.op"() : () -> tensor<3x5xi8, #layout.tiled<(d0, d1) -> (d0, d1), round_up = [1, 4]>>
// CHECK-NEXT: %image = "test.op"() : () -> memref<3x5x4xf32, #layout.tiled<(d0, d1, d2) -> (d0, d1, d2), image>>
%image = "test.op"() : () -> memref<3x5x4xf32, #layout.tiled<(d0, d1, d2) -> (d0, d1, d2), image>>
// CHECK-NEXT: %all = "test.op"() : () -> memref<3x5x4xf32, #layout.tiled<(d0, d1, d2) -> (d0, d1, d2), round_up = [4, 1, 1], image, allocation = 99>>
%all = "test.op"() : () -> memref<3x5x4xf32, #layout.tiled<(d0, d1, d2) -> (d0, d1, d2), allocation = 99, image, round_up = [4, 1, 1]>>
// CHECK-NEXT: %nested = "test.op"() : () -> tensor<8x8xf32, #layout.tiled<(d0, d1) -> ((d0 * 8 + d1) floordiv 3 - 1, (d0 floordiv 2) mod 4, 7)>>
%nested = "test.op"() : () -> tensor<8x8xf32, #layout.tiled<(d0, d1) -> ((d0 * 8 + d1) floordiv 3 - 1, d0 floordiv 2 mod 4, 7)>>
// CHECK-NEXT: %scalar = "test.op"() : () -> tensor<f32, #layout.tiled<() -> ()>>
%scalar = "test.op"() : () -> tensor<f32, #layout.tiled<() -> ()>>

// CHECK-NEXT: %open = "test.op"() : () -> tensor<?x?xf32, #layout.any>
%open = "test.op"() : () -> tensor<?x?xf32, #layout.any>
// CHECK-NEXT: %undef = "test.op"() : () -> memref<?xf32, #layout.undef>
%undef = "test.op"() : () -> memref<?xf32, #layout.undef>
// CHECK-NEXT: %opaque = "test.op"() : () -> tensor<4xf32, #layout.opaque<17>>
%opaque = "test.op"() : () -> tensor<4xf32, #layout.opaque<17>>
