// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=zen-4}" | filecheck %s --check-prefix ZEN
// RUN: layout-opt %s -p "layout-lower{vector-bytes=64 stream-bytes=0 processor=zen-4}" | filecheck %s --check-prefix ALL
// RUN: not layout-opt %s -p "layout-to-loops{vector-bytes=64 processor=zen4}" 2>&1 | filecheck %s --check-prefix NO-SUCH

!planes = memref<1x32x64x64xf32>
!pixels = memref<1x32x64x64xf32, #layout.format<"NHWC">>

// blocks of two by two tiles by default, whose loads ask for lines of a first level cache
// CHECK-LABEL: func.func @near(
// CHECK-COUNT-3: scf.for
// CHECK:         vector.load %{{.*}} {prefetch = 32 : index} : memref<131072xf32>

// Zen 4 goes on along the source where lines of the destination are near, and asks for lines of the second level
// ZEN-LABEL:   func.func @near(
// ZEN-COUNT-2:   scf.for
// ZEN-NOT:       scf.for
// ZEN:           vector.load %{{.*}} {prefetch = 80 : index, locality = 2 : index} : memref<131072xf32>

// ALL-LABEL:   func.func @near(
// ALL:           vector.load %{{.*}} {prefetch = 80 : index, locality = 2 : index} : memref<131072xf32>

// NO-SUCH: layout-to-loops: expected processor to be one of ice-lake, zen-4, got zen4; did you mean zen-4?
func.func @near(%x: !planes, %y: !pixels) {
  layout.copy %x, %y : !planes to !pixels
  func.return
}

!rows = memref<128x2048xf32>
!columns = memref<128x2048xf32, #layout.format<"CN">>

// but not where they are a page apart or more
// ZEN-LABEL:   func.func @far(
// ZEN-COUNT-4:   scf.for
// ZEN:           vector.load %{{.*}} {{{.*}}locality = 2 : index}
func.func @far(%x: !columns, %y: !rows) {
  layout.copy %x, %y : !columns to !rows
  func.return
}
