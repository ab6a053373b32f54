// RUN: layout-opt %s -p layout-to-buffers | filecheck %s
// RUN: layout-opt %s -p layout-to-buffers,layout-to-buffers | filecheck %s

!t = tensor<3x8xf32>
!cn = tensor<3x8xf32, #layout.format<"CN">>
!col = tensor<3x8xf32, strided<[1, 3]>>

// CHECK-LABEL: func.func @returned(%x: memref<3x8xf32>, %y: memref<3x8xf32, #layout.format<"CN">>) {
// CHECK-NEXT: layout.copy %x, %y pad = 1.000000e+00 : f32 {note} : memref<3x8xf32> to memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: func.return
func.func @returned(%x: !t) -> !cn {
  %y = layout.reorder %x pad = 1.0 : f32 {note} : !t to !cn
  func.return %y : !cn
}

// CHECK-LABEL: func.func @intermediate(%x: memref<3x8xf32>, %z: memref<3x8xf32>) {
// CHECK-NEXT: %y = memref.alloc() : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %x, %y : memref<3x8xf32> to memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %y, %z : memref<3x8xf32, #layout.format<"CN">> to memref<3x8xf32>
// CHECK-NEXT: memref.dealloc %y : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: func.return
func.func @intermediate(%x: !t) -> !t {
  %y = layout.reorder %x : !t to !cn
  %z = layout.reorder %y : !cn to !t
  func.return %z : !t
}

// what is returned is also read where it was written
// CHECK-LABEL: func.func @chain(%x: memref<3x8xf32>, %y: memref<3x8xf32, #layout.format<"CN">>, %z: memref<3x8xf32>) {
// CHECK-NEXT: layout.copy %x, %y : memref<3x8xf32> to memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %y, %z pad = undef : memref<3x8xf32, #layout.format<"CN">> to memref<3x8xf32>
// CHECK-NEXT: func.return
func.func @chain(%x: !t) -> (!cn, !t) {
  %y = layout.reorder %x : !t to !cn
  %z = layout.reorder %y pad = undef : !cn to !t
  func.return %y, %z : !cn, !t
}

// CHECK-LABEL: func.func @argument(%x: memref<3x8xf32>, %result: memref<3x8xf32>) {
// CHECK-NEXT: layout.copy %x, %result : memref<3x8xf32> to memref<3x8xf32>
// CHECK-NEXT: func.return
func.func @argument(%x: !t) -> !t {
  func.return %x : !t
}

// CHECK-LABEL: func.func @twice(%x: memref<3x8xf32>, %y: memref<3x8xf32, #layout.format<"CN">>, %y_1: memref<3x8xf32, #layout.format<"CN">>) {
// CHECK-NEXT: layout.copy %x, %y pad = undef : memref<3x8xf32> to memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: layout.copy %y, %y_1 pad = undef : memref<3x8xf32, #layout.format<"CN">> to memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: func.return
func.func @twice(%x: !t) -> (!cn, !cn) {
  %y = layout.reorder %x pad = undef : !t to !cn
  func.return %y, %y : !cn, !cn
}

// a cast leaves nothing behind: the reorder writes the type that is returned
// CHECK-LABEL: func.func @cast(%x: memref<3x8xf32>, %z: memref<3x8xf32, strided<[1, 3]>>, %w: memref<3x8xf32>) {
// CHECK-NEXT: layout.copy %x, %z : memref<3x8xf32> to memref<3x8xf32, strided<[1, 3]>>
// CHECK-NEXT: layout.copy %z, %w : memref<3x8xf32, strided<[1, 3]>> to memref<3x8xf32>
// CHECK-NEXT: func.return
func.func @cast(%x: !t) -> (!col, !t) {
  %y = layout.reorder %x : !t to !cn
  %z = layout.cast %y : !cn to !col
  %w = layout.reorder %z : !col to !t
  func.return %z, %w : !col, !t
}

// CHECK-LABEL: func.func private @callee(memref<3x8xf32>, f32, memref<3x8xf32, #layout.format<"CN">>) -> i32
func.func private @callee(!t, f32) -> (!cn, i32)

// CHECK-LABEL: func.func @calls(%x: memref<3x8xf32>, %k: f32, %c: memref<3x8xf32, #layout.format<"CN">>, %e: memref<3x8xf32>) -> (i32, i32) {
// CHECK-NEXT: %n = func.call @callee(%x, %k, %c) : (memref<3x8xf32>, f32, memref<3x8xf32, #layout.format<"CN">>) -> i32
// CHECK-NEXT: %d = memref.alloc() : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: %m = func.call @callee(%x, %k, %d) {note} : (memref<3x8xf32>, f32, memref<3x8xf32, #layout.format<"CN">>) -> i32
// CHECK-NEXT: layout.copy %d, %e
// CHECK-NEXT: memref.dealloc %d
// CHECK-NEXT: func.return %n, %m : i32, i32
func.func @calls(%x: !t, %k: f32) -> (i32, !cn, i32, !t) {
  %c, %n = func.call @callee(%x, %k) : (!t, f32) -> (!cn, i32)
  %d, %m = func.call @callee(%x, %k) {note} : (!t, f32) -> (!cn, i32)
  %e = layout.reorder %d : !cn to !t
  func.return %n, %c, %m, %e : i32, !cn, i32, !t
}

// a call takes exactly the callee's type, so a cast in front of it costs a copy
// CHECK-LABEL: func.func @cast_before_call(%x: memref<3x8xf32, strided<[8, 1]>>, %k: f32) {
// CHECK-NEXT: %y = memref.alloc() : memref<3x8xf32>
// CHECK-NEXT: layout.copy %x, %y : memref<3x8xf32, strided<[8, 1]>> to memref<3x8xf32>
// CHECK-NEXT: %c = memref.alloc() : memref<3x8xf32, #layout.format<"CN">>
// CHECK-NEXT: %n = func.call @callee(%y, %k, %c)
// CHECK-NEXT: memref.dealloc %y
// CHECK-NEXT: memref.dealloc %c
// CHECK-NEXT: func.return
func.func @cast_before_call(%x: tensor<3x8xf32, strided<[8, 1]>>, %k: f32) {
  %y = layout.cast %x : tensor<3x8xf32, strided<[8, 1]>> to !t
  %c, %n = func.call @callee(%y, %k) : (!t, f32) -> (!cn, i32)
  func.return
}

// attributes of arguments and results go with them
// CHECK-LABEL: func.func @attributes(%x: memref<3x8xf32> {test.a}, %y: memref<3x8xf32, #layout.format<"CN">> {test.b}) -> (i32 {test.c}) {
func.func @attributes(%x: !t {test.a}) -> (!cn {test.b}, i32 {test.c}) {
  %n = "test.op"() : () -> i32
  %y = layout.reorder %x : !t to !cn
  func.return %y, %n : !cn, i32
}

// what nobody reads is not computed
// CHECK-LABEL: func.func @unused(%x: memref<3x8xf32>) {
// CHECK-NEXT: func.return
func.func @unused(%x: !t) {
  %y = layout.reorder %x : !t to !cn
  func.return
}

// CHECK-LABEL: func.func @no_tensors(%m: memref<3x8xf32>, %k: f32) -> f32 {
// CHECK-NEXT: %0 = layout.cast %m
// CHECK-NEXT: func.return %k : f32
func.func @no_tensors(%m: memref<3x8xf32>, %k: f32) -> f32 {
  %0 = layout.cast %m : memref<3x8xf32> to memref<3x8xf32, strided<[8, 1]>>
  func.return %k : f32
}
