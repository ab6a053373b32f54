// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 processor=sapphire-rapids}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0}" | filecheck %s --check-prefix OTHERS

!bytes = memref<157x20x24x28x32xi8>
!reversed = memref<157x20x24x28x32xi8, #layout.format<"onednn:edcba">>

// tiles of 64 rows, all in one set of the first level cache: only the next line of each is asked for
// CHECK-LABEL: func.func @far_rows(
// CHECK:         vector.load %{{.*}} {prefetch = 64 : index, locality = 2 : index} : memref<67522560xi8>, vector<64xi8>
// OTHERS-LABEL: func.func @far_rows(
// OTHERS:         vector.load %{{.*}} {prefetch = 128 : index} : memref<67522560xi8>, vector<64xi8>
func.func @far_rows(%x: !bytes, %y: !reversed) {
  layout.copy %x, %y : !bytes to !reversed
  func.return
}

!inside = memref<157x20x24x28x30xi8>
!inside_reversed = memref<157x20x24x28x30xi8, #layout.format<"onednn:edcba">>

// not so where rows begin inside of lines, as the next tile reads parts of two lines of each
// CHECK-LABEL: func.func @inside_of_lines(
// CHECK:         vector.load %{{.*}} {prefetch = 128 : index, locality = 2 : index} : memref<63302400xi8>, vector<64xi8>
func.func @inside_of_lines(%x: !inside, %y: !inside_reversed) {
  layout.copy %x, %y : !inside to !inside_reversed
  func.return
}

!halves = memref<157x20x24x28x32xf16>
!halves_reversed = memref<157x20x24x28x32xf16, #layout.format<"onednn:edcba">>

// nor for tiles of 32 rows
// CHECK-LABEL: func.func @fewer_rows(
// CHECK:         vector.load %{{.*}} {prefetch = 64 : index, locality = 2 : index} : memref<67522560xf16>, vector<32xf16>
func.func @fewer_rows(%x: !halves, %y: !halves_reversed) {
  layout.copy %x, %y : !halves to !halves_reversed
  func.return
}
