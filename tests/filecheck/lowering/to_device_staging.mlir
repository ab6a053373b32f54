// RUN: layout-opt %s -p 'layout-resolve,layout-to-buffers,layout-to-loops{device=true tile=16},layout-flatten' | filecheck %s --check-prefix=LOOPS
// RUN: layout-opt %s -p 'layout-lower-device{tile=16 work-group=64}' -t opencl | filecheck %s

// Where the two sides run along different axes, a tile is read along one and written along the other.

// LOOPS:      "scf.parallel"
// LOOPS:        "scf.parallel"
// LOOPS:          %tile = memref.alloca() : memref<272xf32, "workgroup">
// LOOPS:          "scf.parallel"
// LOOPS:            memref.store %{{.*}}, %tile[%{{.*}}]
// LOOPS:          "scf.parallel"
// LOOPS:            memref.load %tile[%{{.*}}]

// CHECK:      __kernel __attribute__((reqd_work_group_size(64, 1, 1)))
// CHECK-NEXT: void f_0(__global const uint *restrict x, __global uint *restrict y) {
// CHECK-NEXT:   __local uint tile[272];
// CHECK:        for (int turn = item; turn < 256; turn += 64) {
// CHECK-NEXT:     if (16 * group_y + turn / 16 < 40) {
// CHECK-NEXT:       tile[17 * (turn / 16) + turn % 16] = x[16 * group_x + turn % 16 + 512 * group_y + 32 * (turn / 16)];
// CHECK:        barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:   for (int turn = item; turn < 256; turn += 64) {
// CHECK-NEXT:     if (16 * group_y + turn % 16 < 40) {
// CHECK-NEXT:       y[640 * group_x + 40 * (turn / 16) + 16 * group_y + turn % 16] = tile[17 * (turn % 16) + turn / 16];
func.func @f(%x: tensor<40x32xf32>) -> tensor<40x32xf32, #layout.format<"onednn:ba">> {
  %y = layout.reorder %x : tensor<40x32xf32> to tensor<40x32xf32, #layout.format<"onednn:ba">>
  func.return %y : tensor<40x32xf32, #layout.format<"onednn:ba">>
}

// Small elements have larger tiles, and rows of an odd number of words, so that a column lies in different banks.

// CHECK:      void small_0(
// CHECK-NEXT:   __local uchar tile[4352];
// CHECK:          tile[68 * (turn / 64) + turn % 64] = x[
func.func @small(%x: tensor<128x128xi8>) -> tensor<128x128xi8, #layout.format<"onednn:ba">> {
  %y = layout.reorder %x : tensor<128x128xi8> to tensor<128x128xi8, #layout.format<"onednn:ba">>
  func.return %y : tensor<128x128xi8, #layout.format<"onednn:ba">>
}
