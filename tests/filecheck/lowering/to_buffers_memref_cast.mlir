// RUN: layout-opt %s -p layout-lower | filecheck %s

// a cast of a buffer disappears with the layouts
// CHECK-LABEL: func.func @cast(%m: memref<24xf32>, %d: memref<24xf32>) {
// CHECK-NOT: layout.
// CHECK: memref.load %m
// CHECK-NOT: layout.
func.func @cast(%m: memref<3x8xf32>, %d: memref<3x8xf32, #layout.format<"CN">>) {
  %0 = layout.cast %m : memref<3x8xf32> to memref<3x8xf32, strided<[8, 1]>>
  layout.copy %0, %d : memref<3x8xf32, strided<[8, 1]>> to memref<3x8xf32, #layout.format<"CN">>
  func.return
}
