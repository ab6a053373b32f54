// RUN: layout-opt %s -p layout-split-vectors | filecheck %s
// RUN: layout-opt %s -p layout-split-vectors,layout-split-vectors | filecheck %s
// RUN: layout-opt %s -p 'layout-split-vectors{register_bytes=64}' | filecheck %s --check-prefix=LINE
// RUN: layout-opt %s -p 'layout-split-vectors{register_bytes=16}' | filecheck %s --check-prefix=SHORT
// RUN: layout-opt %s -p 'layout-split-vectors{stores_apart=true}' | filecheck %s --check-prefix=APART
// RUN: not layout-opt %s -p 'layout-split-vectors{register_bytes=48}' 2>&1 | filecheck %s --check-prefix=WIDTH

// WIDTH: layout-split-vectors: expected register-bytes to be one of 16, 32, 64, got 48

// Parts of a shuffle that are registers as they are need no operation, others come from two of them at most.
// CHECK-LABEL: func.func @mix
// CHECK-NEXT:    %a = vector.load %x[%i] {prefetch = 80 : index, locality = 2 : index} : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    [[behind:%.*]] = affine.apply affine_map<(d0) -> ((d0 + 8))> (%i)
// CHECK-NEXT:    [[high:%.*]] = vector.load %x{{\[}}[[behind]]{{\]}} : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    %j = affine.apply affine_map<(d0) -> ((d0 + 100))> (%i)
// CHECK-NEXT:    %b = vector.load %x[%j] : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    [[further:%.*]] = affine.apply affine_map<(d0) -> ((d0 + 108))> (%i)
// CHECK-NEXT:    [[last:%.*]] = vector.load %x{{\[}}[[further]]{{\]}} : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    [[even:%.*]] = vector.shuffle [[high]], [[last]] [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK-NEXT:    vector.store %b, %y[%i] {at_line, nontemporal = true} : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    [[place:%.*]] = affine.apply affine_map<(d0) -> ((d0 + 8))> (%i)
// CHECK-NEXT:    vector.store [[even]], %y{{\[}}[[place]]{{\]}} {at_line, nontemporal = true} : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    func.return
// LINE-LABEL:  func.func @mix
// LINE:          vector.shuffle %a, %b [16, 17, 18, 19, 20, 21, 22, 23, 8, 24, 9, 25, 10, 26, 11, 27] : vector<16xf32>
// SHORT-LABEL: func.func @mix
// SHORT:         vector.shuffle {{%.*}}, {{%.*}} [0, 4, 1, 5] : vector<4xf32>
// SHORT-NEXT:    vector.shuffle {{%.*}}, {{%.*}} [2, 6, 3, 7] : vector<4xf32>
func.func @mix(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %a = vector.load %x[%i] {prefetch = 80 : index, locality = 2 : index} : memref<?xf32>, vector<16xf32>
  %j = affine.apply affine_map<(d0) -> (d0 + 100)> (%i)
  %b = vector.load %x[%j] : memref<?xf32>, vector<16xf32>
  %c = vector.shuffle %a, %b [16, 17, 18, 19, 20, 21, 22, 23, 8, 24, 9, 25, 10, 26, 11, 27] : vector<16xf32>, vector<16xf32>
  vector.store %c, %y[%i] {nontemporal = true, at_line} : memref<?xf32>, vector<16xf32>
  func.return
}

// Lanes of more than two registers are put together two by two.
// CHECK-LABEL: func.func @gather
// CHECK:         [[near:%.*]] = vector.shuffle {{%.*}}, {{%.*}} [0, 8, 0, 0, 1, 9, 0, 0] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:    [[far:%.*]] = vector.shuffle {{%.*}}, {{%.*}} [0, 0, 0, 8, 0, 0, 1, 9] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:    [[all:%.*]] = vector.shuffle [[near]], [[far]] [0, 1, 10, 11, 4, 5, 14, 15] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:    vector.store [[all]], %y[%i] : memref<?xf32>, vector<8xf32>
func.func @gather(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %a = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
  %b = vector.load %y[%i] : memref<?xf32>, vector<16xf32>
  %c = vector.shuffle %a, %b [0, 8, 16, 24, 1, 9, 17, 25] : vector<16xf32>, vector<16xf32>
  vector.store %c, %y[%i] : memref<?xf32>, vector<8xf32>
  func.return
}

// One constant serves all parts; what is stored with a mask stays whole; where both lines that a vector may lie in are
// asked for, its last part asks for the second one.
// CHECK-LABEL: func.func @others
// CHECK-NEXT:    [[zeros:%.*]] = arith.constant dense<0> : vector<32xi8>
// CHECK-NEXT:    vector.store [[zeros]], %y[%i] {prefetch = 100 : index} : memref<?xi8>, vector<32xi8>
// CHECK-NEXT:    [[place:%.*]] = affine.apply
// CHECK-NEXT:    vector.store [[zeros]], %y{{\[}}[[place]]{{\]}} {prefetch = 131 : index} : memref<?xi8>, vector<32xi8>
// CHECK-NEXT:    %line = vector.load %x[%i] : memref<?xi8>, vector<64xi8>
// CHECK-NEXT:    %mask = vector.create_mask %i : vector<64xi1>
// CHECK-NEXT:    vector.maskedstore %y[%i], %mask, %line
func.func @others(%x: memref<?xi8>, %y: memref<?xi8>, %i: index) {
  %zeros = arith.constant dense<0> : vector<64xi8>
  vector.store %zeros, %y[%i] {prefetch = 100 : index, both_lines} : memref<?xi8>, vector<64xi8>
  %line = vector.load %x[%i] : memref<?xi8>, vector<64xi8>
  %mask = vector.create_mask %i : vector<64xi1>
  vector.maskedstore %y[%i], %mask, %line : memref<?xi8>, vector<64xi1>, vector<64xi8>
  func.return
}

// What is no load, shuffle or constant is taken as a whole, and so is what meets it in a shuffle.
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     vector<8xf32>
// CHECK:         %a = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
// CHECK-NEXT:    %c = vector.shuffle %a, %v [0, 16, 1, 17, 2, 18, 3, 19] : vector<16xf32>, vector<16xf32>
// CHECK-NEXT:    %c_1 = vector.shuffle %a, %v [4, 20, 5, 21, 6, 22, 7, 23] : vector<16xf32>, vector<16xf32>
// CHECK-NEXT:    vector.store %c, %x[%i] : memref<?xf32>, vector<8xf32>
func.func @whole(%x: memref<?xf32>, %v: vector<16xf32>, %i: index) {
  %a = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
  %c = vector.shuffle %a, %v [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xf32>, vector<16xf32>
  vector.store %c, %x[%i] : memref<?xf32>, vector<16xf32>
  func.return
}

// What comes from the first registers has nothing to do with the rest, and comes first if stores may change places.
// APART-LABEL: func.func @halves
// APART-NEXT:    vector.load %x[%i] {prefetch = 80 : index} : memref<?xf32>, vector<8xf32>
// APART-COUNT-2: vector.store
// APART:         vector.load
// APART-COUNT-2: vector.store
// APART-NOT:     vector.
// APART:         func.return
// CHECK-LABEL: func.func @halves
// CHECK-COUNT-4: vector.load
// CHECK-NOT:     vector.load
// CHECK:         func.return
func.func @halves(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %j = affine.apply affine_map<(d0) -> (d0 + 100)> (%i)
  %a = vector.load %x[%i] {prefetch = 80 : index} : memref<?xf32>, vector<16xf32>
  %b = vector.load %x[%j] : memref<?xf32>, vector<16xf32>
  %c = vector.shuffle %a, %b [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xf32>, vector<16xf32>
  %d = vector.shuffle %a, %b [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31] : vector<16xf32>, vector<16xf32>
  vector.store %c, %y[%i] : memref<?xf32>, vector<16xf32>
  vector.store %d, %y[%j] : memref<?xf32>, vector<16xf32>
  func.return
}

// Not where what is stored may be loaded afterwards.
// APART-LABEL: func.func @in_place
// APART-COUNT-4: vector.load
// APART-NOT:     vector.load
// APART:         func.return
func.func @in_place(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %j = affine.apply affine_map<(d0) -> (d0 + 100)> (%i)
  %a = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
  %b = vector.load %x[%j] : memref<?xf32>, vector<16xf32>
  %c = vector.shuffle %a, %b [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xf32>, vector<16xf32>
  %d = vector.shuffle %a, %b [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31] : vector<16xf32>, vector<16xf32>
  vector.store %c, %x[%i] : memref<?xf32>, vector<16xf32>
  vector.store %d, %x[%j] : memref<?xf32>, vector<16xf32>
  func.return
}

// Halves of a line come from two quarters, one after the other, and are stored together.
// APART-LABEL: func.func @quarters
// APART-COUNT-4: vector.load
// APART-NOT:     vector.load
// APART-COUNT-2: vector.store
// APART-COUNT-4: vector.load
// APART-COUNT-2: vector.store
// APART-NOT:     vector.
// APART:         func.return
func.func @quarters(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %j = affine.apply affine_map<(d0) -> (d0 + 100)> (%i)
  %k = affine.apply affine_map<(d0) -> (d0 + 200)> (%i)
  %l = affine.apply affine_map<(d0) -> (d0 + 300)> (%i)
  %a = vector.load %x[%i] : memref<?xf32>, vector<16xf32>
  %b = vector.load %x[%j] : memref<?xf32>, vector<16xf32>
  %c = vector.load %x[%k] : memref<?xf32>, vector<16xf32>
  %d = vector.load %x[%l] : memref<?xf32>, vector<16xf32>
  %e = vector.shuffle %a, %b [0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27] : vector<16xf32>, vector<16xf32>
  %f = vector.shuffle %c, %d [0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27] : vector<16xf32>, vector<16xf32>
  %g = vector.shuffle %e, %f [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23] : vector<16xf32>, vector<16xf32>
  %h = vector.shuffle %e, %f [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31] : vector<16xf32>, vector<16xf32>
  vector.store %g, %y[%i] : memref<?xf32>, vector<16xf32>
  vector.store %h, %y[%j] : memref<?xf32>, vector<16xf32>
  func.return
}
