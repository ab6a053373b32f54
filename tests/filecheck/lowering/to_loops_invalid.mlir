// RUN: layout-opt %s -p layout-to-loops --split-input-file --verify-diagnostics | filecheck %s

// CHECK: layout-to-loops: expected an element type of whole bytes, got i4 (4 bits)
func.func @packed(%x: memref<8x8xi4>, %y: memref<8x8xi4, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<8x8xi4> to memref<8x8xi4, #layout.format<"CN">>
  func.return
}

// -----

// CHECK: got memref<?x8xf32>
func.func @dynamic(%x: memref<?x8xf32>, %y: memref<?x8xf32, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<?x8xf32> to memref<?x8xf32, #layout.format<"CN">>
  func.return
}
