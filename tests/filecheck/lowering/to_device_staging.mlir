// RUN: layout-opt %s -p 'layout-resolve,layout-to-buffers,layout-to-loops{device=true tile=16},layout-flatten' | filecheck %s --check-prefix=LOOPS
// RUN: layout-opt %s -p 'layout-lower-device{tile=16 work-group=64}' -t opencl | filecheck %s

// Where the two sides run along different axes, a tile is read along one and written along the other.

// LOOPS:      "scf.parallel"
// LOOPS:        "scf.parallel"
// LOOPS:          %tile = memref.alloca() {{.*}} : memref<272xf32, "workgroup">
// LOOPS:          "scf.parallel"
// LOOPS:            memref.store %{{.*}}, %tile[%{{.*}}]
// LOOPS:          "scf.parallel"
// LOOPS:            memref.load %tile[%{{.*}}]

// CHECK:      __kernel __attribute__((reqd_work_group_size(64, 1, 1)))
// CHECK-NEXT: void f_0(__global const uint *restrict x, __global uint *restrict y) {
// CHECK-NEXT:   __local uint tile[272];
// CHECK:        for (int turn = item; turn < 256; turn += 64) {
// CHECK-NEXT:     if (16 * group_y + turn / 16 < 40) {
// CHECK-NEXT:       tile[17 * (turn / 16) + turn % 16] = x[16 * group_x + 512 * group_y + 32 * (turn / 16) + turn % 16];
// CHECK:        barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:   for (int turn = item; turn < 256; turn += 64) {
// CHECK-NEXT:     if (16 * group_y + turn % 16 < 40) {
// CHECK-NEXT:       y[640 * group_x + 40 * (turn / 16) + 16 * group_y + turn % 16] = tile[turn / 16 + 17 * (turn % 16)];
func.func @f(%x: tensor<40x32xf32>) -> tensor<40x32xf32, #layout.format<"onednn:ba">> {
  %y = layout.reorder %x : tensor<40x32xf32> to tensor<40x32xf32, #layout.format<"onednn:ba">>
  func.return %y : tensor<40x32xf32, #layout.format<"onednn:ba">>
}

// Small elements have longer runs, and go by words where runs lie at multiples of one. Rows of an odd number of words
// keep what neighbours write in different banks.

// CHECK:      void small_0(
// CHECK-NEXT:   __local uchar tile[2176] __attribute__((aligned(4)));
// CHECK:          const uchar4 v = *(const __global uchar4 *)(x + 64 * group_x + 4096 * group_y + 128 * (turn / 16) + 4 * (turn % 16));
// CHECK-NEXT:     *(__local uchar4 *)(tile + 68 * (turn / 16) + 4 * (turn % 16)) = v;
// CHECK:          const uchar v = tile[turn / 8 + 272 * (turn % 8)];
// CHECK:          const uchar v_3 = tile[turn / 8 + 272 * (turn % 8) + 204];
// CHECK-NEXT:     *(__global uchar4 *)(y + {{.*}}) = (uchar4)(v, v_1, v_2, v_3);
func.func @small(%x: tensor<128x128xi8>) -> tensor<128x128xi8, #layout.format<"onednn:ba">> {
  %y = layout.reorder %x : tensor<128x128xi8> to tensor<128x128xi8, #layout.format<"onednn:ba">>
  func.return %y : tensor<128x128xi8, #layout.format<"onednn:ba">>
}

// A run covers several axes: all of a kernel's weights, and all of a block of channels. Pads are written with the rest.

// CHECK:      void weights_0(
// CHECK:        for (int turn = item; turn < 288; turn += 64) {
// CHECK-NEXT:     const int v = {{.*}} + 288 * (turn / 36) + turn % 36;
// CHECK-NEXT:     tile[37 * (turn / 36) + turn % 36] = x[v];
// CHECK:          const int v = {{.*}} + turn % 32;
// CHECK-NEXT:     y[v] = tile[turn / 32 + 9 * (turn % 4) + 37 * (turn / 4 % 8)];
!plain = tensor<32x32x3x3xf32>
!blocked = tensor<32x32x3x3xf32, #layout.format<"onednn:OIhw4i16o4i">>
func.func @weights(%x: !plain) -> !blocked {
  %y = layout.reorder %x : !plain to !blocked
  func.return %y : !blocked
}

// CHECK:      void padded_0(
// CHECK:        tile[{{.*}}] = x[
// CHECK:          const uchar v = turn % 16 < 3;
// CHECK-NEXT:     const int v_1 = v ? {{.*}} : 0;
// CHECK-NEXT:     const uint v_2 = tile[v_1];
// CHECK-NEXT:     const uint v_3 = v ? v_2 : 0;
// CHECK-NEXT:     y[{{.*}}] = v_3;
!few = tensor<1x3x8x8xf32>
!padded = tensor<1x3x8x8xf32, #layout.format<"onednn:nChw16c">>
func.func @padded(%x: !few) -> !padded {
  %y = layout.reorder %x : !few to !padded
  func.return %y : !padded
}
