// RUN: layout-opt %s -p layout-flatten --split-input-file --verify-diagnostics | filecheck %s

// CHECK: layout-flatten: expected loops, got 'layout.copy'; run layout-to-buffers and layout-to-loops first
func.func @copy(%x: memref<2x3xf32>, %y: memref<2x3xf32, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<2x3xf32> to memref<2x3xf32, #layout.format<"CN">>
  func.return
}

// -----

// CHECK: layout-flatten: expected {{.*}} got {{.*}}memref<?x3xf32
func.func private @dynamic(memref<?x3xf32, #layout.format<"CN">>)
