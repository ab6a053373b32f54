// RUN: layout-opt %s -p layout-flatten | filecheck %s
// RUN: layout-opt %s -p layout-flatten,layout-flatten | filecheck %s

!blocked = memref<2x5xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>

// CHECK-NOT: {{#layout|layout\.|strided}}

// every type of a buffer is flat, with its pads and gaps, in declarations and calls too
// CHECK-LABEL: func.func private @callee(memref<16xf32>, memref<12xf64>, memref<48xf16>, i32)
func.func private @callee(!blocked, memref<3x2xf64, strided<[4, 1], offset: 2>>, memref<1x5x2x3xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>, i32)

// a storage is its buffer, and so is a cast of it
// CHECK-LABEL: func.func @storage(%x: memref<16xf32>, %n: index) -> f32 {
// CHECK-NEXT:    %v = memref.load %x[%n] : memref<16xf32>
// CHECK-NEXT:    func.return %v : f32
func.func @storage(%x: !blocked, %n: index) -> f32 {
  %y = layout.cast %x : !blocked to memref<2x5xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 4, d0 * 4 + d1 mod 4)>>
  %s = layout.storage %x : !blocked to memref<16xf32>
  %v = memref.load %s[%n] : memref<16xf32>
  func.return %v : f32
}

// CHECK-LABEL: func.func @call(%i: i32) {
// CHECK-NEXT:    %x = memref.alloc() : memref<16xf32>
// CHECK-NEXT:    func.call @kept(%x, %i) : (memref<16xf32>, i32) -> ()
// CHECK-NEXT:    memref.dealloc %x : memref<16xf32>
// CHECK-NEXT:    func.return
func.func @call(%i: i32) {
  %x = memref.alloc() : !blocked
  func.call @kept(%x, %i) : (!blocked, i32) -> ()
  memref.dealloc %x : !blocked
  func.return
}

// what holds its elements one by one stays as it is
// CHECK-LABEL: func.func private @kept(memref<16xf32>, i32)
func.func private @kept(!blocked, i32)

// integers lose their sign, which only arithmetic would need; a memory space stays
// CHECK-LABEL: func.func private @bits(memref<6xi8>, memref<4xi32>, memref<1xf32>, memref<12xbf16, 3 : i32>)
func.func private @bits(memref<2x3xui8>, memref<4xsi32>, memref<f32>, memref<3x4xbf16, 3 : i32>)
