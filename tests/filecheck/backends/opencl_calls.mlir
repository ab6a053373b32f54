// RUN: layout-opt %s -t opencl | filecheck %s

// Calls are resolved, and temporaries live on the device.

// CHECK:      /* outer(source, destination) runs, one after the other:
// CHECK-NEXT:  *   between: a new memref<12xf32>
// CHECK-NEXT:  *   inner_0(source, between) in 1 groups of 6 work items
// CHECK-NEXT:  *   outer_0(between, destination) in 1 groups of 12 work items
// CHECK-NEXT:  *   between is not needed any more */
func.func @outer(%source: memref<3x4xf32>, %destination: memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>) {
  %between = memref.alloc() : memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 2, d0, d1 mod 2)>>
  func.call @inner(%source, %between) :
    (memref<3x4xf32>, memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 2, d0, d1 mod 2)>>) -> ()
  layout.copy %between, %destination : memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 2, d0, d1 mod 2)>>
    to memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>
  memref.dealloc %between : memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 2, d0, d1 mod 2)>>
  func.return
}

func.func private @inner(%source: memref<3x4xf32>,
    %destination: memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 2, d0, d1 mod 2)>>) {
  layout.copy %source, %destination : memref<3x4xf32>
    to memref<3x4xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 2, d0, d1 mod 2)>>
  func.return
}
