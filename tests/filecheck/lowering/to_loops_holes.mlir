// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64}" | filecheck %s

!blocks = memref<1x3x4x16xi8, #layout.format<"onednn:nChw8c">>
!planes = memref<1x3x4x16xi8>

// every load takes 8 pixels with 3 of 8 channels each; every other one starts 4 bytes early, where its channels fill
// the holes between the others'
// CHECK-LABEL:   func.func @last_channels(
// CHECK:           %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NOT:       scf.for
// CHECK:           %[[FIRST:.*]] = vector.load %{{.*}}[%[[ZERO]]] : memref<512xi8>, vector<64xi8>
// CHECK:           %[[EARLY:.*]] = affine.apply affine_map<(d0) -> ((d0 + 60))> (%[[ZERO]])
// CHECK:           %[[SECOND:.*]] = vector.load %{{.*}}[%[[EARLY]]] : memref<512xi8>, vector<64xi8>
// CHECK-NEXT:      vector.shuffle %[[FIRST]], %[[SECOND]] [0, 1, 2, 3, 68, 69, 70, 71, 8, 9, 10, 11, 76,
// CHECK-COUNT-6:   vector.load %{{.*}} : memref<512xi8>, vector<64xi8>
// CHECK-COUNT-3:   vector.store %{{.*}} : memref<192xi8>, vector<64xi8>
// CHECK-NOT:       {{vector.load|vector.store|memref.load|memref.store}}
// CHECK:           func.return
func.func @last_channels(%x: !blocks, %y: !planes) {
  layout.copy %x, %y : !blocks to !planes
  func.return
}

// the second load ends with the last element, and no vector starts before the first one
// CHECK-LABEL: func.func @every_other(
// CHECK:         scf.for
// CHECK:           %[[FROM:.*]] = affine.apply affine_map<(d0) -> ((d0 * 2))>
// CHECK:           vector.load %{{.*}}[%[[FROM]]] : memref<253xi8>, vector<64xi8>
// CHECK:           %[[EARLY:.*]] = affine.apply affine_map<(d0) -> ((d0 + 63))> (%[[FROM]])
// CHECK:           vector.load %{{.*}}[%[[EARLY]]] : memref<253xi8>, vector<64xi8>
// CHECK-NOT:       vector.load
// CHECK:           vector.store %{{.*}} : memref<127xi8>, vector<64xi8>
// CHECK:         func.return
func.func @every_other(%x: memref<127xi8, strided<[2]>>, %y: memref<127xi8>) {
  layout.copy %x, %y : memref<127xi8, strided<[2]>> to memref<127xi8>
  func.return
}
