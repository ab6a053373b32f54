// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 run-bytes=512 row-bytes=64}" | filecheck %s --check-prefix SHORT
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 prefetch-tiles=4}" | filecheck %s --check-prefix FAR
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 run-bytes=512 row-bytes=64 prefetch-tiles=4}" | filecheck %s --check-prefix PANELS
// RUN: not layout-opt %s -p "layout-to-loops{run-bytes=0}" 2>&1 | filecheck %s --check-prefix ZERO

!rows = memref<60x62x150xf32>
!columns = memref<60x62x150xf32, #layout.format<"onednn:cba">>

// the cost model: all of a and c, some of b; the long rows of the source are asked for ahead, five lines each
// CHECK:     memref.alloca() {alignment = 4096 : i64} : memref<74416xf32>
// CHECK:     scf.for %b_panel =
// CHECK-NOT: _panel =
// CHECK:     vector.load %{{.*}} {prefetch = 80 : index}

// runs of about 512 bytes and rows of about 64: less of b, and some of c; the panel that follows is asked for
// SHORT:     memref.alloca() {alignment = 4096 : i64} : memref<7696xf32>
// SHORT:     scf.for %b_panel =
// SHORT:       scf.for %c_panel =
// SHORT:       vector.load %{{.*}} {prefetch = 32 : index}

// FAR:       vector.load %{{.*}} {prefetch = 64 : index}
// PANELS:    vector.load %{{.*}} {prefetch = 128 : index}

// ZERO: layout-to-loops: expected run-bytes to be at least 1, got 0
func.func @reverse(%x: !rows, %y: !columns) {
  layout.copy %x, %y : !rows to !columns
  func.return
}
