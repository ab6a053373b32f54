// RUN: layout-opt %s -p layout-resolve,layout-to-buffers,layout-to-images | filecheck %s
// RUN: layout-opt %s -p layout-resolve,layout-to-buffers,layout-to-images,layout-to-loops{device=true},layout-flatten,layout-to-device | layout-opt -t opencl | filecheck %s --check-prefix=TEXT

// An image is a buffer of rows, columns and lanes in a space of its own, read and written by whole pixels: three lanes
// hold the channels, and the fourth is a pad everywhere.

// CHECK-LABEL: func.func @f(%x: memref<1x3x2x5xf32, #layout.tiled<{{.*}}>>, %y: memref<2x5x4xf32, "image2d">)
// CHECK:         "scf.parallel"
// CHECK:           "scf.parallel"
// CHECK-COUNT-3:     memref.load
// CHECK-COUNT-3:     vector.insert
// CHECK:             vector.store %{{.*}}, %y[%{{.*}}, %{{.*}}, %{{.*}}] : memref<2x5x4xf32, "image2d">, vector<4xf32>

// TEXT:      void f_0(__global const uint *restrict x, __write_only image2d_t y) {
// TEXT:        write_imageui(y, (int2)(x_1 % 5, x_1 / 5), (uint4)(v, v_1, v_2, 0));
func.func @f(%x: tensor<1x3x2x5xf32, #layout.format<"NCHW">>)
    -> tensor<1x3x2x5xf32, #layout.format<"openvino:image_2d_rgba">> {
  %y = layout.reorder %x : tensor<1x3x2x5xf32, #layout.format<"NCHW">>
    to tensor<1x3x2x5xf32, #layout.format<"openvino:image_2d_rgba">>
  func.return %y : tensor<1x3x2x5xf32, #layout.format<"openvino:image_2d_rgba">>
}
