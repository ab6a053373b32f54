// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 processor=zen-4}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0}" | filecheck %s --check-prefix PANELS

!rows = memref<640x512xf32>
!fractals = memref<640x512xf32, #layout.format<"ascend:FRACTAL_NZ">>

// A destination that begins inside of a line: each of 32 rows of fractals has a place for four lines of a tile and the
// rest of one before them. The lines of the last tile of a row go on from there when those of the next one come.

// CHECK-LABEL: func.func @rows_go_on(
// CHECK:       } else {
// CHECK:         %[[START:.*]] = "memref.extract_aligned_pointer_as_index"(%[[TO:.*]]) :
// CHECK-NEXT:    %[[BEHIND:.*]] = affine.apply affine_map<(d0) -> (((d0 floordiv 4) mod 16))> (%[[START]])
// CHECK-NEXT:    %rows = memref.alloca() {alignment = 512 : i64} : memref<4096xf32>
// CHECK-COUNT-4: scf.for
// CHECK:           scf.if
// CHECK-COUNT-4:     {nontemporal = true}
// CHECK:             %[[REST:.*]] = vector.load %rows[%{{.*}}]
// CHECK-NEXT:        vector.store %[[REST]], %rows[%[[PLACE:.*]]] :

// the first line of a row is written in part
// CHECK-NEXT:      } else {
// CHECK:             scf.if
// CHECK:               vector.create_mask
// CHECK-NEXT:          vector.maskedstore %[[TO]]
// CHECK-COUNT-3:       {nontemporal = true}

// CHECK:           affine.apply affine_map<(d0, d1) -> ((d0 + d1))> (%[[PLACE]], %[[BEHIND]])
// CHECK-COUNT-4:   vector.store %{{.*}}, %rows[%{{.*}}] :

// and so is what is behind the last tile
// CHECK-COUNT-2: scf.for
// CHECK-COUNT-4:   {nontemporal = true}
// CHECK:           %[[MASK:.*]] = vector.create_mask %[[BEHIND]]
// CHECK-NEXT:      vector.maskedstore %[[TO]]

// PANELS-LABEL: func.func @rows_go_on(
// PANELS-NOT:   %rows
// PANELS:       %panel = memref.alloca()
func.func @rows_go_on(%x: !rows, %y: !fractals) {
  layout.copy %x, %y : !rows to !fractals
  func.return
}
