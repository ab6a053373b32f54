// RUN: layout-opt %s | layout-opt | filecheck %s
// RUN: layout-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: layout-opt %s --print-op-generic | layout-opt | filecheck %s

%tensor, %plain, %blocked = "test.op"() : () -> (tensor<3x8xf32>, memref<3x8xf32>, memref<3x8xf32, #layout.tiled<(a, b) -> (a floordiv 2, b, a mod 2)>>)

// CHECK: %{{.*}} = layout.reorder %tensor : tensor<3x8xf32> to tensor<3x8xf32, #layout.format<"CN">>
// GENERIC: %{{.*}} = "layout.reorder"(%tensor) : (tensor<3x8xf32>) -> tensor<3x8xf32, #layout.format<"CN">>
%0 = layout.reorder %tensor : tensor<3x8xf32> to tensor<3x8xf32, #layout.format<"CN">>

// CHECK: %{{.*}} = layout.reorder %tensor pad = undef {note = "x"} : tensor<3x8xf32> to tensor<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>
// GENERIC: %{{.*}} = "layout.reorder"(%tensor) <{pad = #layout.undef}> {note = "x"} : (tensor<3x8xf32>) -> tensor<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>
%1 = layout.reorder %tensor pad = undef {note = "x"} : tensor<3x8xf32> to tensor<3x8xf32, #layout.tiled<(a, b) -> (a floordiv 2, b, a mod 2)>>

// CHECK: layout.copy %plain, %blocked : memref<3x8xf32> to memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>
// GENERIC: "layout.copy"(%plain, %blocked) : (memref<3x8xf32>, memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>) -> ()
layout.copy %plain, %blocked : memref<3x8xf32> to memref<3x8xf32, #layout.tiled<(a, b) -> (a floordiv 2, b, a mod 2)>>

// CHECK: layout.copy %plain, %blocked pad = -1.000000e+00 : f32 {note} : memref<3x8xf32> to memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>
// GENERIC: "layout.copy"(%plain, %blocked) <{pad = -1.000000e+00 : f32}> {note}
layout.copy %plain, %blocked pad = -1.0 : f32 {note} : memref<3x8xf32> to memref<3x8xf32, #layout.tiled<(a, b) -> (a floordiv 2, b, a mod 2)>>

// CHECK: %{{.*}} = layout.cast %tensor : tensor<3x8xf32> to tensor<3x8xf32, strided<[8, 1]>>
// GENERIC: %{{.*}} = "layout.cast"(%tensor) : (tensor<3x8xf32>) -> tensor<3x8xf32, strided<[8, 1]>>
%2 = layout.cast %tensor : tensor<3x8xf32> to tensor<3x8xf32, strided<[8, 1]>>

// CHECK: %{{.*}} = layout.cast %plain : memref<3x8xf32> to memref<3x8xf32, affine_map<(d0, d1) -> (((d0 * 8) + d1))>>
%3 = layout.cast %plain : memref<3x8xf32> to memref<3x8xf32, affine_map<(d0, d1) -> (d0 * 8 + d1)>>

// CHECK: %{{.*}} = layout.storage %blocked : memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>> to memref<32xf32>
// GENERIC: %{{.*}} = "layout.storage"(%blocked) : (memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>) -> memref<32xf32>
%4 = layout.storage %blocked : memref<3x8xf32, #layout.tiled<(a, b) -> (a floordiv 2, b, a mod 2)>> to memref<32xf32>

// integers of every width and kind carry a pad of their own type
// CHECK: pad = 7 : ui8 : tensor<3xui8> to tensor<3xui8, #layout.tiled<(d0) -> (d0), round_up = [4]>>
%5 = "test.op"() : () -> tensor<3xui8>
%6 = layout.reorder %5 pad = 7 : ui8 : tensor<3xui8> to tensor<3xui8, #layout.tiled<(i) -> (i), round_up = [4]>>

// CHECK: pad = true : tensor<3xi1> to tensor<3xi1, #layout.tiled<(d0) -> (d0), round_up = [4]>>
%7 = "test.op"() : () -> tensor<3xi1>
%8 = layout.reorder %7 pad = true : tensor<3xi1> to tensor<3xi1, #layout.tiled<(i) -> (i), round_up = [4]>>

// a source may be broadcast, and a layout may still be open
// CHECK: layout.reorder %{{.*}} : tensor<3x8xi4, strided<[0, 1]>> to tensor<3x8xi4, #layout.any>
%9 = "test.op"() : () -> tensor<3x8xi4, strided<[0, 1]>>
%10 = layout.reorder %9 : tensor<3x8xi4, strided<[0, 1]>> to tensor<3x8xi4, #layout.any>
