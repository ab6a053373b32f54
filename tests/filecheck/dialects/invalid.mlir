// RUN: layout-opt %s --verify-diagnostics --split-input-file | filecheck %s

%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<8x4xf32>
// CHECK: layout.reorder: expected source and destination of one shape, got tensor<4x8xf32> and tensor<8x4xf32>

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf16>
// CHECK: layout.reorder: expected source and destination of one element type, got f32 and f16

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf32, #layout.format<"NHWC">>
// CHECK: layout.reorder: NHWC: expected a shape of rank 4 (N, C, H, W), got rank 2: [4, 8]

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf32, #layout.tiled<(d0) -> (d0)>>
// CHECK: layout.reorder: tiled layout: expected a shape of rank 1, got rank 2: [4, 8]

// -----
%0 = "test.op"() : () -> tensor<?x8xf32>
%1 = layout.reorder %0 : tensor<?x8xf32> to tensor<?x8xf32, #layout.tiled<(d0, d1) -> ((d0 * 8 + d1) floordiv 16, (d0 * 8 + d1) mod 16)>>
// CHECK: expected a size that is known for dim d0, got ?: the layout cuts it together with others: (d0 * 8 + d1) floordiv 16

// -----
%0 = "test.op"() : () -> tensor<?x8xf32>
%1 = layout.reorder %0 : tensor<?x8xf32> to tensor<?x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 48, d0 mod 32, d1)>>
// CHECK: expected a size that is known for dim d0, got ?: the layout counts it in blocks of 48

// -----
%0 = "test.op"() : () -> tensor<?x?xf32>
%1 = layout.reorder %0 : tensor<?x?xf32> to tensor<?x?xf32, strided<[100, 1]>>
// CHECK: layout.reorder: expected a destination with a place of its own for every element, got tensor<?x?xf32, strided<[100, 1]>>, whose elements overlap

// -----
%0 = "test.op"() : () -> tensor<?x8xf32>
%1 = layout.reorder %0 : tensor<?x8xf32> to tensor<4x8xf32>
// CHECK: layout.reorder: expected source and destination of one shape, got tensor<?x8xf32> and tensor<4x8xf32>

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf32, strided<[?, 1]>>
// CHECK: layout.reorder: expected strides and an offset that are known, got strided<[?, 1]>

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf32, "csr">
// CHECK: layout.reorder: expected a layout such as #layout.format, #layout.tiled or strided<...>, got "csr"

// -----
%0 = "test.op"() : () -> tensor<4x8xindex>
%1 = layout.reorder %0 : tensor<4x8xindex> to tensor<4x8xindex>
// CHECK: layout.reorder: expected an element type of fixed width such as f32 or i8, got index

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf32, strided<[0, 1]>>
// CHECK: layout.reorder: expected a destination with a place of its own for every element, got tensor<4x8xf32, strided<[0, 1]>>, whose elements overlap

// -----
%0, %1 = "test.op"() : () -> (memref<4x8xf32>, memref<4x8xf32, strided<[4, 1]>>)
layout.copy %0, %1 : memref<4x8xf32> to memref<4x8xf32, strided<[4, 1]>>
// CHECK: layout.copy: expected a destination with a place of its own for every element, got memref<4x8xf32, strided<[4, 1]>>, whose elements overlap

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.reorder %0 : tensor<4x8xf32> to tensor<4x8xf32, #layout.tiled<(d0, d1) -> (d0, d1 mod 4)>>
// CHECK: layout.reorder: expected a destination with a place of its own for every element, got {{.*}}, whose elements overlap

// -----
%0 = "test.op"() : () -> tensor<4x8xi8>
%1 = layout.reorder %0 pad = 7 : i32 : tensor<4x8xi8> to tensor<4x8xi8>
// CHECK: layout.reorder: expected pad of type i8, got 7 : i32

// -----
%0, %1 = "test.op"() : () -> (memref<4xf32>, memref<4xf32>)
layout.copy %0, %1 pad = "zero" : memref<4xf32> to memref<4xf32>
// CHECK: layout.copy: expected pad to be undef or a typed number, got "zero"

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.cast %0 : tensor<4x8xf32> to tensor<4x8xf32, #layout.format<"CN">>
// CHECK: layout.cast: expected layouts that put every element into the same place, got [0, 1] at offsets 1 and 4; use layout.reorder to move elements

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.cast %0 : tensor<4x8xf32> to tensor<4x8xf32, #layout.tiled<(d0, d1) -> (d0, d1), round_up = [8, 1]>>
// CHECK: layout.cast: expected layouts that put every element into the same place, got storages of 32 and 64 elements

// -----
%0 = "test.op"() : () -> tensor<2x8x4xf32>
%1 = layout.cast %0 : tensor<2x8x4xf32> to tensor<2x8x4xf32, #layout.tiled<(d0, d1, d2) -> (d0, d1, d2), image>>
// CHECK: layout.cast: expected layouts that put every element into the same place, got an image and a buffer

// -----
%0 = "test.op"() : () -> tensor<4xf32>
%1 = layout.cast %0 : tensor<4xf32> to memref<4xf32>
// CHECK: layout.cast: expected two tensors or two memrefs, got tensor<4xf32> and memref<4xf32>

// -----
%0 = "test.op"() : () -> tensor<4x8xf32>
%1 = layout.cast %0 : tensor<4x8xf32> to tensor<4x8xf32, #layout.any>
// CHECK: layout.cast: expected a layout that says where every element lies, got #layout.any: it is still to be chosen

// -----
%0 = "test.op"() : () -> memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>>
%1 = layout.storage %0 : memref<3x8xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 2, d1, d0 mod 2)>> to memref<24xf32>
// CHECK: layout.storage: expected a result of type memref<32xf32>, got memref<24xf32>

// -----
%0 = "test.op"() : () -> memref<3xf32, #layout.tiled<(d0) -> (d0), round_up = [4], allocation = 2>>
%1 = layout.storage %0 : memref<3xf32, #layout.tiled<(d0) -> (d0), round_up = [4], allocation = 2>> to memref<2xf32>
// CHECK: layout.storage: tiled layout: expected an allocation of at least 4 elements for [3], got 2

// -----
%0 = "test.op"() : () -> memref<3x5x5xf32>
%1 = "layout.storage"(%0) : (memref<3x5x5xf32>) -> memref<3x5x5xf32, #layout.tiled<(d0, d1, d2) -> (d0, d1, d2), image>>
// CHECK: layout.storage: expected a result of type memref<75xf32>, got {{.*}}

// -----
%0 = "test.op"() : () -> tensor<65536x65536xf32>
%1 = layout.cast %0 : tensor<65536x65536xf32> to tensor<65536x65536xf32, #layout.format<"CN">>
// CHECK: layout.cast: expected layouts that put every element into the same place, got [0, 1] at offsets 1 and 65536; use layout.reorder to move elements

// -----
%0 = "test.op"() : () -> tensor<99999999999x99999999999xf32>
%1 = layout.reorder %0 : tensor<99999999999x99999999999xf32> to tensor<99999999999x99999999999xf32>
// CHECK: layout.reorder: expected a storage of less than 2^63 elements

// -----
%0 = "test.op"() : () -> vector<4xf32>
%1 = layout.cast %0 : vector<4xf32> to vector<4xf32>
// CHECK: operand 'source' at position 0 does not verify
