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

// A vector that does not lie at a multiple of its size would be moved by elements on many devices.

// CHECK:      void off_by_one_0(
// CHECK-NOT:    ushort8
// CHECK:      }
func.func @off_by_one(%x: memref<128x72xf16, strided<[88, 1], offset: 1>>, %y: memref<128x72xf16, strided<[80, 1]>>) {
  layout.copy %x, %y : memref<128x72xf16, strided<[88, 1], offset: 1>> to memref<128x72xf16, strided<[80, 1]>>
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
