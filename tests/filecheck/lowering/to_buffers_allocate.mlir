// RUN: layout-opt %s -p 'layout-to-buffers{results=allocate}' | filecheck %s

!t = tensor<3x8xf32>
!cn = tensor<3x8xf32, #layout.format<"CN">>

// CHECK-LABEL: func.func @chain(%x: memref<3x8xf32>) -> memref<3x8xf32> {
// CHECK-NEXT: %y = memref.alloc() : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %x, %y
// CHECK-NEXT: %z = memref.alloc() : memref<3x8xf32>
// CHECK-NEXT: layout.copy %y, %z
// CHECK-NEXT: memref.dealloc %y
// CHECK-NEXT: func.return %z : memref<3x8xf32>
func.func @chain(%x: !t) -> !t {
  %y = layout.reorder %x : !t to !cn
  %z = layout.reorder %y : !cn to !t
  func.return %z : !t
}

// a result is never an argument, nor another result
// CHECK-LABEL: func.func @fresh(%x: memref<3x8xf32>) -> (memref<3x8xf32>, i32, memref<3x8xf32, #layout.format<"CN">>, memref<3x8xf32, #layout.format<"CN">>) {
// CHECK: %y = memref.alloc() : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %x, %y
// CHECK-NEXT: %x_1 = memref.alloc() : memref<3x8xf32>
// CHECK-NEXT: layout.copy %x, %x_1
// CHECK-NEXT: %y_1 = memref.alloc() : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %y, %y_1
// CHECK-NEXT: func.return %x_1, %n, %y, %y_1
func.func @fresh(%x: !t) -> (!t, i32, !cn, !cn) {
  %n = "test.op"() : () -> i32
  %y = layout.reorder %x : !t to !cn
  func.return %x, %n, %y, %y : !t, i32, !cn, !cn
}

// the caller frees what a callee allocated, unless it returns it
// CHECK-LABEL: func.func @calls(%x: memref<3x8xf32>) -> memref<3x8xf32> {
// CHECK-NEXT: %a = func.call @chain(%x) : (memref<3x8xf32>) -> memref<3x8xf32>
// CHECK-NEXT: %b = func.call @chain(%a) : (memref<3x8xf32>) -> memref<3x8xf32>
// CHECK-NEXT: memref.dealloc %a : memref<3x8xf32>
// CHECK-NEXT: func.return %b : memref<3x8xf32>
func.func @calls(%x: !t) -> !t {
  %a = func.call @chain(%x) : (!t) -> !t
  %b = func.call @chain(%a) : (!t) -> !t
  func.return %b : !t
}
