// RUN: layout-opt %s -p layout-flatten | filecheck %s

// tensors are no buffers yet, so alone the pass leaves them as they are

// CHECK-LABEL: func.func @pack(%x: tensor<2x5xf32>) -> tensor<2x5xf32, #layout.format<"NC">> {
// CHECK-NEXT:    %y = layout.reorder %x : tensor<2x5xf32> to tensor<2x5xf32, #layout.format<"CN">>
// CHECK-NEXT:    %z = layout.cast %x : tensor<2x5xf32> to tensor<2x5xf32, #layout.format<"NC">>
// CHECK-NEXT:    func.return %z : tensor<2x5xf32, #layout.format<"NC">>
func.func @pack(%x: tensor<2x5xf32>) -> tensor<2x5xf32, #layout.format<"NC">> {
  %y = layout.reorder %x : tensor<2x5xf32> to tensor<2x5xf32, #layout.format<"CN">>
  %z = layout.cast %x : tensor<2x5xf32> to tensor<2x5xf32, #layout.format<"NC">>
  func.return %z : tensor<2x5xf32, #layout.format<"NC">>
}
