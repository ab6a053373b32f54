// RUN: layout-opt %s -p 'layout-lower-device{work-group=64}' -t opencl | filecheck %s

// Where both sides run along one axis, a work item moves a vector of 16 bytes, or of as many as divide the run.

// CHECK:      void run_0(__global const ushort *restrict x, __global ushort *restrict y) {
// CHECK-NEXT:   const int [[ID:.*]] = (int)get_global_id(0);
// CHECK-NEXT:   const ushort8 [[VALUE:.*]] = *(const __global ushort8 *)(x + 88 * ([[ID]] / 9) + 8 * ([[ID]] % 9));
// CHECK-NEXT:   *(__global ushort8 *)(y + 80 * ([[ID]] / 9) + 8 * ([[ID]] % 9)) = [[VALUE]];
func.func @run(%x: memref<128x72xf16, strided<[88, 1]>>, %y: memref<128x72xf16, strided<[80, 1]>>) {
  layout.copy %x, %y : memref<128x72xf16, strided<[88, 1]>> to memref<128x72xf16, strided<[80, 1]>>
  func.return
}

// CHECK:      void short_run_0(
// CHECK:        const uchar4 [[VALUE:.*]] = *(const __global uchar4 *)(
func.func @short_run(%x: memref<8x20x12xi8>, %y: memref<8x20x12xi8, strided<[12, 96, 1]>>) {
  layout.copy %x, %y : memref<8x20x12xi8> to memref<8x20x12xi8, strided<[12, 96, 1]>>
  func.return
}

// A vector that does not lie at a multiple of its size would be moved by elements on many devices. Where one side has
// vectors, four elements are read or written one by one on the other.

// CHECK:      void off_by_one_0(
// CHECK:        const ushort v = x[88 * (x_1 / 18) + 4 * (x_1 % 18) + 1];
// CHECK:        const ushort v_3 = x[88 * (x_1 / 18) + 4 * (x_1 % 18) + 4];
// CHECK-NEXT:   *(__global ushort4 *)(y + 80 * (x_1 / 18) + 4 * (x_1 % 18)) = (ushort4)(v, v_1, v_2, v_3);
func.func @off_by_one(%x: memref<128x72xf16, strided<[88, 1], offset: 1>>, %y: memref<128x72xf16, strided<[80, 1]>>) {
  layout.copy %x, %y : memref<128x72xf16, strided<[88, 1], offset: 1>> to memref<128x72xf16, strided<[80, 1]>>
  func.return
}

// CHECK:      void to_odd_rows_0(
// CHECK:        const uint4 v = *(const __global uint4 *)(x + 4 * x_1);
// CHECK:        y[13 * (x_1 / 3) + 4 * (x_1 % 3)] = v.s0;
// CHECK:        y[13 * (x_1 / 3) + 4 * (x_1 % 3) + 3] = v.s3;
func.func @to_odd_rows(%x: memref<64x12xf32>, %y: memref<64x12xf32, strided<[13, 1]>>) {
  layout.copy %x, %y : memref<64x12xf32> to memref<64x12xf32, strided<[13, 1]>>
  func.return
}

// Rows of pads are written as vectors too, and of a run that ends in pads each element for itself.

// CHECK:      void rows_of_pads_0(
// CHECK:        if (x_1 < 20) {
// CHECK-NEXT:     const uint4 [[ROW:.*]] = *(const __global uint4 *)(x + {{.*}});
// CHECK-NEXT:     *(__global uint4 *)(y + {{.*}}) = [[ROW]];
// CHECK-NEXT:   } else {
// CHECK-NEXT:     *(__global uint4 *)(y + {{.*}}) = (uint4)(0, 0, 0, 0);
!rows = memref<5x16xf32>
!same_rows = memref<5x16xf32, #layout.tiled<(d0, d1) -> (d0 floordiv 8, d0 mod 8, d1)>>
func.func @rows_of_pads(%x: !rows, %y: !same_rows) {
  layout.copy %x, %y : !rows to !same_rows
  func.return
}

// CHECK:      void ends_in_pads_0(
// CHECK:        const uint v = x[3 * x_1];
// CHECK:        const uint v_2 = x[3 * x_1 + 2];
// CHECK-NEXT:   *(__global uint4 *)(y + 4 * x_1) = (uint4)(v, v_1, v_2, 0);
!channels = memref<2x3x8x8xf32, #layout.format<"NHWC">>
!blocks = memref<2x3x8x8xf32, #layout.format<"onednn:nChw4c">>
func.func @ends_in_pads(%x: !channels, %y: !blocks) {
  layout.copy %x, %y : !channels to !blocks
  func.return
}

// No device needs more than 65535 groups along y or z.

// CHECK-NOT:  get_group_id
// CHECK:      void many_0(
// CHECK-NEXT:   const int [[ID:.*]] = (int)get_global_id(0);
// CHECK-NEXT:   if ([[ID]] < 9100000) {
// CHECK-NEXT:     y[
func.func @many(%x: memref<70000x2x65xf32>, %y: memref<70000x2x65xf32, strided<[66, 4620000, 1]>>) {
  layout.copy %x, %y : memref<70000x2x65xf32> to memref<70000x2x65xf32, strided<[66, 4620000, 1]>>
  func.return
}
