// RUN: layout-opt %s -p layout-resolve --verify-diagnostics --split-input-file | filecheck %s

func.func private @f(tensor<4x8xf32, #layout.any>)
// CHECK: layout-resolve: expected a layout that says where every element lies, got tensor<4x8xf32, #layout.any>: it is still to be chosen; write the layout that is meant

// -----
func.func private @f(tensor<4x8xf32, #layout.undef>)
// CHECK: layout-resolve: expected a layout that says where every element lies, got tensor<4x8xf32, #layout.undef>: it is not yet said

// -----
func.func private @f(memref<4x8xf32, #layout.opaque<17>>)
// CHECK: layout-resolve: expected a layout that says where every element lies, got memref<4x8xf32, #layout.opaque<17>>: only the backend that made it knows it

// -----
func.func private @f(tensor<4x8xf32, #layout.format<"NHWC">>)
// CHECK: layout-resolve: NHWC: expected a shape of rank 4 (N, C, H, W), got rank 2: [4, 8]

// -----
func.func private @f(tensor<4x?xf32, #layout.format<"NHWC">>)
// CHECK: layout-resolve: tensor<4x?xf32, #layout.format<"NHWC">>: NHWC: expected a shape of rank 4 (N, C, H, W), got rank 2
