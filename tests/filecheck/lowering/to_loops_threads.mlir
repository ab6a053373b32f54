// RUN: layout-opt %s -p "layout-to-loops{threads=true}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64}" | filecheck %s
// RUN: layout-opt %s -p layout-to-loops | filecheck %s --check-prefix ONE
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64 processor=zen-4}" | filecheck %s --check-prefix ROWS
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64 team=16}" | filecheck %s --check-prefix TEAM
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64 share_bytes=262144}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{threads=true vector_bytes=64 share_bytes=262145}" | filecheck %s --check-prefix ONE
// RUN: layout-opt %s -p "layout-to-loops{threads=true share_bytes=2097152}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{threads=true share_bytes=2097153}" | filecheck %s --check-prefix ONE

!source = memref<8x64x64xf32>
!destination = memref<8x64x64xf32, #layout.tiled<(d0, d1, d2) -> (d0, d2, d1)>>

// one level of loops is shared by threads, the loops inside of it are not; a copy of 262144 bytes, of 32768 elements
// that count as a line each without tiles, is made by one thread where it takes more for others to pay
// CHECK-LABEL: func.func @transposes(
// CHECK:         scf.parallel
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
// CHECK-NOT:     scf.parallel
// CHECK:         scf.reduce
// CHECK:         func.return

// ONE-LABEL: func.func @transposes(
// ONE-NOT:     scf.parallel
// ONE:         func.return
func.func @transposes(%x: !source, %y: !destination) {
  layout.copy %x, %y : !source to !destination
  func.return
}

// rows of 1024 bytes are too short for threads to write a part of each: whole rows are shared
// ROWS-LABEL: func.func @lines_of_short_rows(
// ROWS:         "scf.parallel"
// ROWS-NEXT:    ^{{.*}}(%a: index):
// ROWS:         scf.for %b1 =
func.func @lines_of_short_rows(%x: memref<256x256xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>>, %y: memref<256x256xf32>) {
  layout.copy %x, %y : memref<256x256xf32, #layout.tiled<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>> to memref<256x256xf32>
  func.return
}

// rows of 2500 bytes are too short as well, and whole rows are shared though that leaves the last part short
// ROWS-LABEL: func.func @uneven_parts(
// ROWS:         "scf.parallel"
// ROWS-NEXT:    ^{{.*}}(%b: index):
func.func @uneven_parts(%x: memref<625x100xf32>, %y: memref<625x100xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>) {
  layout.copy %x, %y : memref<625x100xf32> to memref<625x100xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>
  func.return
}

// 335 images: 32 parts of 10 would leave some of 16 threads 30 images and others 20
// ROWS-LABEL: func.func @images(
// ROWS:         %[[PART:.*]] = arith.constant 10 : index
// ROWS:         "scf.parallel"(%{{.*}}, %{{.*}}, %[[PART]])
// TEAM-LABEL: func.func @images(
// TEAM:         %[[PART:.*]] = arith.constant 7 : index
// TEAM:         "scf.parallel"(%{{.*}}, %{{.*}}, %[[PART]])
func.func @images(%x: memref<335x64x64xf32>, %y: memref<335x64x64xf32, #layout.tiled<(d0, d1, d2) -> (d0, d2, d1)>>) {
  layout.copy %x, %y : memref<335x64x64xf32> to memref<335x64x64xf32, #layout.tiled<(d0, d1, d2) -> (d0, d2, d1)>>
  func.return
}

// 8 blocks of 32 columns are too few for 16 threads, which share those of 32 rows as well
// TEAM-LABEL: func.func @short_loops(
// TEAM-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// TEAM-DAG:     %[[END:.*]] = arith.constant 256 : index
// TEAM-DAG:     %[[BLOCK:.*]] = arith.constant 32 : index
// TEAM:         "scf.parallel"(%[[FIRST]], %[[FIRST]], %[[END]], %[[END]], %[[BLOCK]], %[[BLOCK]])
// TEAM-NEXT:    ^{{.*}}(%b: index, %a: index):
func.func @short_loops(%x: memref<256x256xf32>, %y: memref<256x256xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>) {
  layout.copy %x, %y : memref<256x256xf32> to memref<256x256xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>
  func.return
}

// rows of 99 elements: where 16 of them begin a line does; the last 4 of 100 belong to the last part
// TEAM-LABEL: func.func @longer_part(
// TEAM-DAG:     %[[LAST:.*]] = arith.constant 96 : index
// TEAM-DAG:     %[[PART:.*]] = arith.constant 16 : index
// TEAM-DAG:     %[[EXTENT:.*]] = arith.constant 100 : index
// TEAM:         "scf.parallel"(%{{.*}}, %[[LAST]], %[[PART]])
// TEAM-NEXT:    ^{{.*}}(%b: index):
// TEAM-NEXT:      %[[NEXT:.*]] = affine.apply affine_map<(d0) -> ((d0 + 16))> (%b)
// TEAM-NEXT:      %[[IS_LAST:.*]] = arith.cmpi uge, %[[NEXT]], %[[LAST]] : index
// TEAM-NEXT:      %[[END:.*]] = arith.select %[[IS_LAST]], %[[EXTENT]], %[[NEXT]] : index
// TEAM-NEXT:      scf.for %{{.*}} = %b to %[[END]] step
func.func @longer_part(%x: memref<99x100xf32>, %y: memref<99x100xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>) {
  layout.copy %x, %y : memref<99x100xf32> to memref<99x100xf32, #layout.tiled<(d0, d1) -> (d1, d0)>>
  func.return
}

// of unknown images threads share parts as well, unless there are four images for each of them
// TEAM-LABEL: func.func @unknown_images(
// TEAM:         %[[ENOUGH:.*]] = arith.cmpi uge, %d0, %{{.*}} : index
// TEAM-NEXT:    %[[WHOLE:.*]] = arith.maxui %d2, %{{.*}} : index
// TEAM-NEXT:    %[[LENGTH:.*]] = arith.select %[[ENOUGH]], %[[WHOLE]], %{{.*}} : index
// TEAM:         "scf.parallel"(%{{.*}}, %{{.*}}, %{{.*}}, %d0, %d2, %{{.*}}, %{{.*}}, %[[LENGTH]], %{{.*}}) <{
// TEAM-NEXT:    ^{{.*}}(%a: index, %c: index, %b: index):
// TEAM:           scf.for %{{.*}} = %b to
// TEAM-NEXT:        %[[END:.*]] = affine.apply affine_map<(d0, d1) -> ((d0 + d1))> (%c, %[[LENGTH]])
// TEAM-NEXT:        %[[LAST:.*]] = arith.minui %[[END]], %d2
// TEAM-NEXT:        scf.for %{{.*}} = %c to %[[LAST]]
func.func @unknown_images(%x: memref<?x64x?xf32>, %y: memref<?x64x?xf32, #layout.tiled<(d0, d1, d2) -> (d0, d2, d1)>>) {
  layout.copy %x, %y : memref<?x64x?xf32> to memref<?x64x?xf32, #layout.tiled<(d0, d1, d2) -> (d0, d2, d1)>>
  func.return
}
