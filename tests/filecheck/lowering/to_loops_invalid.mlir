// RUN: layout-opt %s -p layout-to-loops --split-input-file --verify-diagnostics | filecheck %s

// CHECK: layout-to-loops: expected an element type of whole bytes, got i4 (4 bits)
func.func @packed(%x: memref<8x8xi4>, %y: memref<8x8xi4, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<8x8xi4> to memref<8x8xi4, #layout.format<"CN">>
  func.return
}

// -----

// CHECK: layout-to-loops: expected the unknown sizes of a function's argument or of a memref.alloc, got memref<?x8xf32>
func.func private @make() -> (memref<?x8xf32>, memref<?x8xf32, #layout.format<"CN">>)
func.func @dynamic() {
  %x, %y = func.call @make() : () -> (memref<?x8xf32>, memref<?x8xf32, #layout.format<"CN">>)
  layout.copy %x, %y : memref<?x8xf32> to memref<?x8xf32, #layout.format<"CN">>
  func.return
}
