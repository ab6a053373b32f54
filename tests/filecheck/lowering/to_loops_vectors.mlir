// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=32}" | filecheck %s --check-prefix NARROW
// RUN: layout-opt %s -p layout-to-loops | filecheck %s --check-prefix SCALAR

!rows = memref<16x16xf32>
!columns = memref<16x16xf32, #layout.format<"CN">>

// four stages of sixteen shuffles between sixteen loads and sixteen stores of a whole line, and no loop
// CHECK-LABEL: func.func @transpose(
// CHECK-NOT:      scf.for
// CHECK:          %[[A:.*]] = vector.load %{{.*}} : memref<256xf32>, vector<16xf32>
// CHECK-NEXT:     {{.*}}
// CHECK-NEXT:     %[[B:.*]] = vector.load %{{.*}} : memref<256xf32>, vector<16xf32>
// CHECK-NEXT:     vector.shuffle %[[A]], %[[B]] [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK-NEXT:     vector.shuffle %[[A]], %[[B]] [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-COUNT-14: vector.load %{{.*}} : memref<256xf32>, vector<16xf32>
// CHECK-NOT:      vector.load
// CHECK:          vector.shuffle %[[C:.*]], %[[D:.*]] [0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29]
// CHECK-COUNT-16: vector.store %{{.*}} : memref<256xf32>, vector<16xf32>
// CHECK-NOT:      vector.store
// CHECK-NOT:      {{memref.load|memref.store|scf.for}}
// CHECK:          func.return

// NARROW-LABEL: func.func @transpose(
// NARROW:         scf.for
// NARROW:         vector.load %{{.*}} : memref<256xf32>, vector<8xf32>
// NARROW:         vector.shuffle %{{.*}}, %{{.*}} [{{.*}}] : vector<8xf32>, vector<8xf32>
// NARROW:         vector.store %{{.*}} : memref<256xf32>, vector<8xf32>
// NARROW:         func.return

// SCALAR-LABEL: func.func @transpose(
// SCALAR-NOT:     vector.
// SCALAR:         func.return
func.func @transpose(%x: !rows, %y: !columns) {
  layout.copy %x, %y : !rows to !columns
  func.return
}

!planes = memref<1x3x4x16xi8>
!pixels = memref<1x3x4x16xi8, #layout.format<"onednn:nChw4c">>

// a pad of a block comes from a vector of pads, shuffled in
// CHECK-LABEL: func.func @planes_to_pixels(
// CHECK:         arith.constant dense<7> : vector<{{.*}}xi8>
// CHECK:         vector.load %{{.*}} : memref<192xi8>
// CHECK:         vector.shuffle
// CHECK:         vector.store %{{.*}} : memref<256xi8>, vector<64xi8>
// CHECK-NOT:     memref.store
// CHECK:         func.return
func.func @planes_to_pixels(%x: !planes, %y: !pixels) {
  layout.copy %x, %y pad = 7 : i8 : !planes to !pixels
  func.return
}

// nothing is contiguous on either side: vectors would do no good
// CHECK-LABEL: func.func @scattered(
// CHECK-NOT:     vector.
// CHECK:         func.return
func.func @scattered(%x: memref<9x9xf32, strided<[90, 7]>>, %y: memref<9x9xf32, strided<[6, 80]>>) {
  layout.copy %x, %y : memref<9x9xf32, strided<[90, 7]>> to memref<9x9xf32, strided<[6, 80]>>
  func.return
}
