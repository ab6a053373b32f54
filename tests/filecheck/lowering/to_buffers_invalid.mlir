// RUN: layout-opt %s -p layout-to-buffers --verify-diagnostics --split-input-file | filecheck %s

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
// CHECK: layout-to-buffers: expected tensors only in layout.reorder, layout.cast, func.call, func.return, got 'arith.addf' in @f; lower it to buffers first

// -----
func.func @f(%x: tensor<4xf32>) {
  cf.br ^next
^next:
  func.return
}
// CHECK: layout-to-buffers: expected one block in @f, got 2; lift the branches out of it

// -----
func.func @f(%x: tensor<4xf32>, %c: i1) {
  scf.if %c {
    %y = layout.reorder %x : tensor<4xf32> to tensor<4xf32, strided<[2]>>
  }
  func.return
}
// CHECK: layout-to-buffers: expected 'layout.reorder' at the top level in @f, got it inside of another op; lift it out

// -----
%x = "test.op"() : () -> tensor<4xf32>
// CHECK: layout-to-buffers: expected tensors inside of a func.func only, got 'test.op' outside of one

// -----
func.func @f(%x: tensor<4xf32, 3 : i32>) {
  func.return
}
// CHECK: layout-to-buffers: expected an encoding that is a layout, got 3 : i32 in @f

// -----
func.func @f(%x: tensor<4x4xf32, strided<[0, 1]>>) -> tensor<4x4xf32, strided<[0, 1]>> {
  func.return %x : tensor<4x4xf32, strided<[0, 1]>>
}
// CHECK: layout.copy: expected a destination with a place of its own for every element
