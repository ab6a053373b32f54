// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 processor=emerald-rapids}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0}" | filecheck %s --check-prefix OTHERS

!bytes = memref<600x200x320xi8>
!reversed = memref<600x200x320xi8, #layout.format<"onednn:cba">>

// tiles of 64 rows, all in few sets of the first level cache: only the next line of each is asked for
// CHECK-LABEL: func.func @far_rows(
// CHECK:         vector.load %{{.*}} {prefetch = 64 : index, locality = 2 : index} : memref<38400000xi8>, vector<64xi8>
// OTHERS-LABEL: func.func @far_rows(
// OTHERS:         vector.load %{{.*}} {prefetch = 128 : index} : memref<38400000xi8>, vector<64xi8>
func.func @far_rows(%x: !bytes, %y: !reversed) {
  layout.copy %x, %y : !bytes to !reversed
  func.return
}

!inside = memref<600x200x300xi8>
!inside_reversed = memref<600x200x300xi8, #layout.format<"onednn:cba">>

// not so where rows begin inside of lines, as the next tile reads parts of two lines of each
// CHECK-LABEL: func.func @inside_of_lines(
// CHECK:         vector.load %{{.*}} {prefetch = 128 : index, locality = 2 : index} : memref<36000000xi8>, vector<64xi8>
func.func @inside_of_lines(%x: !inside, %y: !inside_reversed) {
  layout.copy %x, %y : !inside to !inside_reversed
  func.return
}

!halves = memref<300x200x320xf16>
!halves_reversed = memref<300x200x320xf16, #layout.format<"onednn:cba">>

// nor for tiles of 32 rows
// CHECK-LABEL: func.func @fewer_rows(
// CHECK:         vector.load %{{.*}} {prefetch = 64 : index, locality = 2 : index} : memref<19200000xf16>, vector<32xf16>
func.func @fewer_rows(%x: !halves, %y: !halves_reversed) {
  layout.copy %x, %y : !halves to !halves_reversed
  func.return
}

!parts = memref<157x20x24x28x32xi8>
!reversed_parts = memref<157x20x24x28x32xi8, #layout.format<"onednn:edcba">>

// where the next panel does not go on with the rows, what lies behind them is not what comes next: tiles ask for what two
// tiles later is read, also where that is the next panel's, and one line after the other
// CHECK-LABEL: func.func @parts_of_rows(
// CHECK:         scf.for %a = %{{.*}} to %[[ROWS:.*]] step
// CHECK:           scf.for %b = %{{.*}} to %{{.*}} step
// CHECK:             scf.for %d_e =
// CHECK:               %[[LATER:.*]] = arith.addi %d_e, %{{.*}} : index
// CHECK-NEXT:          %[[ENDS:.*]] = arith.cmpi uge, %[[LATER]], %{{.*}} : index
// CHECK:               %[[ALONG:.*]] = arith.select %[[ENDS]], %{{.*}}, %[[LATER]] : index
// CHECK-NEXT:          %[[MORE:.*]] = arith.select %[[ENDS]], %{{.*}}, %{{.*}} : index
// CHECK-NEXT:          %[[NEXT:.*]] = arith.addi %b, %[[MORE]] : index
// CHECK-NEXT:          %[[TURNS:.*]] = arith.cmpi uge, %[[NEXT]], %{{.*}} : index
// CHECK-NEXT:          %[[ACROSS:.*]] = arith.select %[[TURNS]], %{{.*}}, %[[NEXT]] : index
// CHECK:               %ahead = affine.apply {{.*}} (%[[ALONG]], %[[ACROSS]], %{{.*}})
// CHECK-NEXT:          %[[PLACE:.*]] = arith.minui %ahead, %{{.*}} : index
// CHECK-NEXT:          vector.load %{{.*}}[%[[PLACE]]] {prefetch = 0 : index, locality = 2 : index} : memref<67522560xi8>, vector<1xi8>
// CHECK-NEXT:          %line = vector.load
// CHECK-NOT:           vector.load {{.*}} {prefetch
// CHECK:               vector.shuffle
// OTHERS-LABEL: func.func @parts_of_rows(
// OTHERS:         vector.load %{{.*}} {prefetch = 128 : index} : memref<67522560xi8>, vector<64xi8>
func.func @parts_of_rows(%x: !parts, %y: !reversed_parts) {
  layout.copy %x, %y : !parts to !reversed_parts
  func.return
}
