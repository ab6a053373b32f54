// RUN: layout-opt %s -p layout-lower | filecheck %s
// RUN: layout-opt %s -p "layout-lower{vector_bytes=64}" | filecheck %s
// RUN: layout-opt %s -p "layout-lower{threads=true vector_bytes=32}" | filecheck %s
// RUN: layout-opt %s -p layout-resolve,layout-to-buffers,layout-to-loops,layout-flatten,layout-outline-branches | filecheck %s
// RUN: layout-opt %s -p layout-to-buffers,layout-to-loops,layout-flatten | filecheck %s

// nothing of the layout dialect is left, neither an operation nor an attribute, and no tensor
// CHECK-NOT: {{layout\.|#layout|tensor|strided}}

// CHECK-LABEL: func.func @pack(%x: memref<6615xf32>, %y: memref<35280xf32>) {
// CHECK-NOT:     {{layout\.|#layout|tensor|strided|floordiv|mod}}
// CHECK:         func.return
func.func @pack(%x: tensor<1x3x45x49xf32>) -> tensor<1x3x45x49xf32, #layout.format<"openvino:b_fs_yx_fsv16">> {
  %y = layout.reorder %x : tensor<1x3x45x49xf32> to tensor<1x3x45x49xf32, #layout.format<"openvino:b_fs_yx_fsv16">>
  func.return %y : tensor<1x3x45x49xf32, #layout.format<"openvino:b_fs_yx_fsv16">>
}

// CHECK-LABEL: func.func @weights(%x: memref<4096xf16>, %y: memref<4096xf16>) {
// CHECK-NOT:     {{layout\.|#layout|tensor|strided|floordiv|mod}}
// CHECK:         func.return
func.func @weights(%x: tensor<2x2x32x32xf16, #layout.format<"HWCN", dims = "HWCN">>)
    -> tensor<2x2x32x32xf16, #layout.format<"ascend:FRACTAL_Z", dims = "HWCN">> {
  %y = layout.reorder %x pad = 1.0 : f16 : tensor<2x2x32x32xf16, #layout.format<"HWCN", dims = "HWCN">>
    to tensor<2x2x32x32xf16, #layout.format<"ascend:FRACTAL_Z", dims = "HWCN">>
  func.return %y : tensor<2x2x32x32xf16, #layout.format<"ascend:FRACTAL_Z", dims = "HWCN">>
}

!plain = tensor<5x7xui8>
!blocked = tensor<5x7xui8, #layout.format<"onednn:aB8b">>
!gaps = tensor<5x7xui8, strided<[9, 1]>>

// CHECK-LABEL: func.func @again(%x: memref<40xi8>, %y: memref<43xi8>) {
// CHECK-NOT:     {{layout\.|#layout|tensor|strided}}
// CHECK:         func.return
func.func @again(%x: !blocked) -> !gaps {
  %y = layout.reorder %x : !blocked to !gaps
  func.return %y : !gaps
}

// a buffer in between lives as long as its function
// CHECK-LABEL: func.func @two_steps_and_a_call(%x: memref<35xi8>, %z: memref<43xi8>) {
// CHECK:         %[[Y:.*]] = memref.alloc() : memref<40xi8>
// CHECK-NOT:     {{layout\.|#layout|tensor|strided}}
// CHECK:         func.call @again(%[[Y]], %z) : (memref<40xi8>, memref<43xi8>) -> ()
// CHECK-NEXT:    memref.dealloc %[[Y]] : memref<40xi8>
// CHECK-NEXT:    func.return
func.func @two_steps_and_a_call(%x: !plain) -> !gaps {
  %y = layout.reorder %x pad = 9 : ui8 : !plain to !blocked
  %z = func.call @again(%y) : (!blocked) -> !gaps
  func.return %z : !gaps
}
