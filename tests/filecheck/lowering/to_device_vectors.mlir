// RUN: layout-opt %s -p 'layout-lower-device{vector-bytes=16 most-lanes=16}' -t opencl | filecheck %s

// On a processor a work item moves many tiles, one after the other, so that the last one may do cells of its neighbour
// again.

// CHECK:      void rows_0(
// CHECK-NEXT:   const int group_y = (int)get_group_id(1);
// CHECK-NEXT:   for (int a = 64 * group_y; a < 64 * group_y + 64; a++) {
// CHECK-NEXT:     for (int b = 0; b < 73; b += 16) {
// CHECK-NEXT:       const int [[START:.*]] = b < 57 ? b : 57;
// CHECK-NEXT:       const int from = 90 * a + [[START]];
// CHECK-NEXT:       const int to = 77 * a + [[START]];
// CHECK-NEXT:       const uint4 line = vload4(0, x + from);
// CHECK:            vstore4(line, 0, y + to);
func.func @rows(%x: memref<128x73xf32, strided<[90, 1]>>, %y: memref<128x73xf32, strided<[77, 1]>>) {
  layout.copy %x, %y : memref<128x73xf32, strided<[90, 1]>> to memref<128x73xf32, strided<[77, 1]>>
  func.return
}

// Two work items never write one place: what they share is cut where tiles do not divide it.

// CHECK:      void line_0(
// CHECK-NEXT:   const int group_y = (int)get_group_id(1);
// CHECK-NEXT:   for (int a = 4992 * group_y; a < 4992 * group_y + 4992; a += 16) {
// CHECK:      void line_1(
// CHECK-NEXT:   for (int a = 0; a < 15; a += 8) {
// CHECK-NEXT:     const int [[LAST:.*]] = a < 7 ? a : 7;
// CHECK-NEXT:     const int from = [[LAST]] + 9987;
func.func @line(%x: memref<9999xf32, strided<[1], offset: 3>>, %y: memref<9999xf32>) {
  layout.copy %x, %y : memref<9999xf32, strided<[1], offset: 3>> to memref<9999xf32>
  func.return
}
