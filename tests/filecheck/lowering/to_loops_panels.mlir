// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 panels=true stream_bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 panels=true threads=true stream_bytes=0}" | filecheck %s --check-prefix THREADS
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 panels=true stream_bytes=0 processor=zen-4}" | filecheck %s --check-prefix ZEN
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 panels=true}" | filecheck %s --check-prefix SMALL
// RUN: layout-opt %s -p "layout-to-loops{vector_bytes=64 stream_bytes=0}" | filecheck %s --check-prefix DIRECT

!planes = memref<2x100x30x40xf32>
!pixels = memref<2x100x30x40xf32, #layout.format<"NHWC">>

// pixels of 400 bytes: tiles store to a buffer; the whole lines of it are streamed, wherever the destination begins
// CHECK-LABEL: func.func @pixels(
// CHECK:         %[[X:[a-z0-9_]+]] = layout.storage %x
// CHECK:         %[[Y:[a-z0-9_]+]] = layout.storage %y
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 4096 : i64} : memref<{{[0-9]+}}xf32>
// CHECK:         scf.for %a = 
// CHECK:           vector.load %[[X]][%{{.*}}] {prefetch
// CHECK:           vector.store %{{.*}}, %[[PANEL]][%{{.*}}] : memref<{{[0-9]+}}xf32>, vector<16xf32>
// CHECK-NOT:       vector.store %{{.*}}, %[[Y]]
// CHECK:           %[[ADDRESS:.*]] = "memref.extract_aligned_pointer_as_index"(%[[Y]]) : (memref<240000xf32>) -> index
// CHECK:           %[[BEFORE:.*]] = affine.apply affine_map<{{.*}}d0 floordiv 4{{.*}}mod 16{{.*}}> (%[[ADDRESS]], %{{.*}})
// CHECK:           %[[HEAD:.*]] = arith.minui %[[BEFORE]], %{{.*}} : index
// CHECK:           %[[TAIL:.*]] = affine.apply affine_map<{{.*}}floordiv 16{{.*}}> (%[[HEAD]], %{{.*}})
// CHECK:           %[[FIRST:.*]] = vector.load %[[PANEL]][%{{.*}}] : memref<{{[0-9]+}}xf32>, vector<16xf32>
// CHECK-NEXT:      %[[MASK:.*]] = vector.create_mask %[[HEAD]] : vector<16xi1>
// CHECK-NEXT:      vector.maskedstore %[[Y]][%{{.*}}], %[[MASK]], %[[FIRST]]
// CHECK-NEXT:      scf.for %{{.*}} = %[[HEAD]] to %[[TAIL]] step
// CHECK:             %[[LINE:.*]] = vector.load %[[PANEL]][%{{.*}}] : memref<{{[0-9]+}}xf32>, vector<16xf32>
// CHECK:             vector.store %[[LINE]], %[[Y]][%{{.*}}] {nontemporal = true} : memref<240000xf32>, vector<16xf32>
// CHECK:           vector.create_mask
// CHECK-NEXT:      vector.maskedstore %[[Y]]
// CHECK-NOT:       vector.store

// Zen 4 asks for the 100 rows of the next panel before the lines of this one are streamed, also for those of the next %a
// CHECK-NOT:   vector<1xf32>
// ZEN-LABEL:   func.func @pixels(
// ZEN:           scf.for %c_d_panel = {{.*}} step %[[STEP:[0-9]+]] {
// ZEN-NOT:         nontemporal
// ZEN:             %[[TURNS:.*]] = arith.cmpi uge, %[[BEHIND:.*]], %{{.*}} : index
// ZEN-NEXT:        %[[NEXT:.*]] = arith.select %[[TURNS]], %[[ZERO:.*]], %[[BEHIND]] : index
// ZEN-NEXT:        arith.select %[[TURNS]]
// ZEN:             %[[IMAGE:.*]] = arith.select %{{.*}}, %[[ZERO]], %{{.*}} : index
// ZEN:             %[[COUNT:.*]] = arith.minui
// ZEN:             scf.for %b_ahead = %[[ZERO]] to %{{.*}} step
// ZEN-NEXT:          scf.for %ahead = %[[ZERO]] to %[[COUNT]] step
// ZEN-NEXT:            %[[PLACE:.*]] = affine.apply {{.*}} (%[[IMAGE]], %[[NEXT]], %b_ahead, %ahead)
// ZEN-NEXT:            vector.load %{{.*}}[%[[PLACE]]] {prefetch = 0 : index, locality = 2 : index} : memref<240000xf32>, vector<1xf32>
// ZEN:             nontemporal

// every thread has a buffer of its own
// THREADS-LABEL: func.func @pixels(
// THREADS-NOT:     memref.alloca
// THREADS:         scf.parallel
// THREADS:           memref.alloca

// small destinations stay in the caches
// SMALL-LABEL: func.func @pixels(
// SMALL-NOT:     memref.alloca
// SMALL:         func.return

// DIRECT-LABEL: func.func @pixels(
// DIRECT-NOT:     memref.alloca
// DIRECT:         func.return
func.func @pixels(%x: !planes, %y: !pixels) {
  layout.copy %x, %y : !planes to !pixels
  func.return
}

!odd_planes = memref<2x100x29x37xf32>
!odd_pixels = memref<2x100x29x37xf32, #layout.format<"NHWC">>

// where rows begin anywhere within lines, this panel has read the first line of each of the next, unless that is of the
// next %a; and the last element may lie in a line of its own
// CHECK-LABEL: func.func @odd_pixels(
// ZEN-LABEL: func.func @odd_pixels(
// ZEN:         %[[TURNS:.*]] = arith.cmpi uge, %[[BEHIND:.*]], %{{.*}} : index
// ZEN-NEXT:    %[[NEXT:.*]] = arith.select %[[TURNS]], %[[ZERO:.*]], %[[BEHIND]] : index
// ZEN:         %[[ANEW:.*]] = arith.cmpi eq, %[[NEXT]], %[[ZERO]] : index
// ZEN:         scf.for %b_ahead = %[[ZERO]] to %{{.*}} step
// ZEN-NEXT:      %[[FIRST:.*]] = arith.select %[[ANEW]], %[[ZERO]], %{{.*}} : index
// ZEN:           scf.for %ahead = %[[FIRST]] to %{{.*}} step
// ZEN-NEXT:        %[[ELEMENT:.*]] = arith.minui %ahead, %{{.*}} : index
// ZEN-NEXT:        %[[PLACE:.*]] = affine.apply {{.*}} (%{{.*}}, %[[NEXT]], %b_ahead, %[[ELEMENT]])
// ZEN-NEXT:        vector.load %{{.*}}[%[[PLACE]]] {prefetch = 0 : index, locality = 2 : index} : memref<214600xf32>, vector<1xf32>
func.func @odd_pixels(%x: !odd_planes, %y: !odd_pixels) {
  layout.copy %x, %y : !odd_planes to !odd_pixels
  func.return
}

!matrices = memref<8x77x100xf32>
!transposed = memref<8x77x100xf32, #layout.tiled<(a, b, c) -> (a, c, b)>>

// panels take a matrix in pieces: each asks for the same piece of the next matrix, which has to stay in a farther cache
// CHECK-LABEL: func.func @matrices(
// CHECK:         vector.load %{{.*}} {prefetch = 7700 : index, locality = 2 : index}
// CHECK-NOT:     {prefetch = 7700 : index}
// CHECK:         func.return
func.func @matrices(%x: !matrices, %y: !transposed) {
  layout.copy %x, %y : !matrices to !transposed
  func.return
}

!blocks = memref<1x35x16x16xf32, #layout.format<"onednn:nChw16c">>
!images = memref<1x35x16x16xf32, #layout.format<"NHWC">>

// two whole blocks and a part of a third share the lines of the pixels: both fill the same buffer, the part first, as its
// vectors reach into the next pixel
// CHECK-LABEL: func.func @blocks(
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 4096 : i64}
// CHECK:         scf.for %c_d_panel =
// CHECK:           affine.apply affine_map<(d0) -> (((d0 * 35) + 32))>
// CHECK:           vector.store %{{.*}}, %[[PANEL]][%{{.*}}] : memref<576xf32>, vector<16xf32>
// CHECK:           affine.apply affine_map<(d0) -> ((d0 * 35))>
// CHECK:           vector.store %{{.*}}, %[[PANEL]]
// CHECK-NOT:       memref.store
// CHECK:           "memref.extract_aligned_pointer_as_index"
// CHECK-NOT:     memref.alloca
// CHECK:         func.return
func.func @blocks(%x: !blocks, %y: !images) {
  layout.copy %x, %y : !blocks to !images
  func.return
}

!wide = memref<20003x12001xi8>
!tall = memref<20003x12001xi8, #layout.format<"CN">>

// a panel of all rows would be too large: what is left of a line is kept in front of the run that goes on with it, so
// that only the first panel writes a part before its lines, and only the last one behind them
// CHECK-LABEL: func.func @carried(
// CHECK:         %[[Y:[a-z0-9_]+]] = layout.storage %y
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 4096 : i64}
// CHECK:         scf.for %b_panel =
// CHECK:           scf.for %a_panel =
// CHECK:             vector.store %{{.*}}, %[[PANEL]]
// CHECK:               %[[BEGUN:.*]] = arith.minui %a_panel, %{{.*}} : index
// CHECK:               %[[ADDRESS:.*]] = "memref.extract_aligned_pointer_as_index"(%[[Y]])
// CHECK-NEXT:          affine.apply affine_map<{{.*}}mod 64{{.*}}* -64{{.*}}> (%[[ADDRESS]], %{{.*}}, %[[BEGUN]])
// CHECK:               vector.maskedstore %[[Y]]
// CHECK-NEXT:          scf.for
// CHECK:                 vector.store %{{.*}}, %[[Y]][%{{.*}}] {nontemporal = true}
// CHECK:               vector.maskedstore %[[Y]]
// CHECK:               %[[LEFT:.*]] = vector.load %[[PANEL]]
// CHECK:               vector.store %[[LEFT]], %[[PANEL]]

// threads share the panels between which nothing is carried
// THREADS-LABEL: func.func @carried(
// THREADS:         "scf.parallel"
// THREADS-NEXT:      ^bb0(%{{.*}}: index):
// THREADS:           memref.alloca
// THREADS:           scf.for %a_panel =
func.func @carried(%x: !wide, %y: !tall) {
  layout.copy %x, %y : !wide to !tall
  func.return
}

!deep = memref<1119x5x300xi8>
!reversed = memref<1119x5x300xi8, #layout.format<"onednn:cba">>

// where all of a has been written, what is left of a line goes on to the next b, as long as there is one
// ZEN-LABEL: func.func @reversed(
// ZEN:         scf.for %b =
// ZEN:           scf.for %a_panel =
// ZEN:             %[[COUNT:.*]] = arith.minui
// ZEN:             scf.for %c =
// ZEN:               %[[STARTS:.*]] = affine.apply affine_map<(d0, d1) -> ((d0 + d1))> (%a_panel, %b)
// ZEN-NEXT:          %[[BEGUN:.*]] = arith.minui %[[STARTS]], %{{.*}} : index
// ZEN-NEXT:          %[[LEFT:.*]] = affine.apply affine_map<{{.*}}1119{{.*}}> (%a_panel, %[[COUNT]], %b)
// ZEN:               affine.apply affine_map<{{.*}}mod 64{{.*}}* -64{{.*}}> (%{{.*}}, %{{.*}}, %[[BEGUN]])
// ZEN:               affine.apply affine_map<{{.*}}d2 * -64{{.*}}> (%[[COUNT]], %{{.*}}, %[[LEFT]])
func.func @reversed(%x: !deep, %y: !reversed) {
  layout.copy %x, %y : !deep to !reversed
  func.return
}

// tiles write whole lines by themselves, but for a destination that begins inside of one
// CHECK-LABEL: func.func @whole(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[LINE:.*]] = arith.constant 64 : index
// CHECK:         %[[Y:[a-z0-9_]+]] = layout.storage %y
// CHECK-NEXT:    %[[ADDRESS:.*]] = "memref.extract_aligned_pointer_as_index"(%[[Y]])
// CHECK-NEXT:    %[[BEHIND:.*]] = arith.remui %[[ADDRESS]], %[[LINE]] : index
// CHECK-NEXT:    %[[AT_LINE:.*]] = arith.cmpi eq, %[[BEHIND]], %[[ZERO]] : index
// CHECK-NEXT:    scf.if %[[AT_LINE]] {
// CHECK-NOT:       memref.alloca
// CHECK:           vector.store %{{.*}}, %[[Y]][%{{.*}}] {at_line, nontemporal = true}
// CHECK:         } else {
// CHECK-NEXT:      %[[PANEL:.*]] = memref.alloca()
// CHECK:           vector.store %{{.*}}, %[[PANEL]]
// CHECK:           vector.maskedstore %[[Y]]
// CHECK:         func.return
// DIRECT-LABEL: func.func @whole(
// DIRECT-NOT:     scf.if
// DIRECT:         func.return
func.func @whole(%x: memref<64x64xf32>, %y: memref<64x64xf32, #layout.format<"CN">>) {
  layout.copy %x, %y : memref<64x64xf32> to memref<64x64xf32, #layout.format<"CN">>
  func.return
}

!rows = memref<40x40xf32>
!gaps = memref<40x40xf32, strided<[104, 1]>>

// the gaps between rows are nobody's to write
// CHECK-LABEL: func.func @gaps(
// CHECK-NOT:     memref.alloca
// CHECK:         func.return
func.func @gaps(%x: !rows, %y: !gaps) {
  layout.copy %x, %y : !rows to !gaps
  func.return
}

!any_pixels = memref<?x64x?x?xf32, #layout.format<"NHWC">>
!any_planes = memref<?x64x?x?xf32>

// of unknown extents, those that are large, hold a tile and a long run, and begin planes or all inside of lines, or whose
// last tiles would move too much again: small planes go image by image, whose next one is asked for meanwhile; threads
// share one loop over all panels; planes that hold shorter tiles only go image by image as well
// CHECK-LABEL: func.func @unknown(
// CHECK:         %h_w = arith.muli %h, %w : index
// CHECK:         scf.if
// CHECK-NEXT:      memref.alloca() {alignment = 4096 : i64} : memref<40976xf32>
// CHECK:         } else {
// CHECK:         %[[ADDRESS:.*]] = "memref.extract_aligned_pointer_as_index"
// CHECK-NEXT:    %[[BEHIND:.*]] = arith.remui %[[ADDRESS]]
// CHECK-NEXT:    %[[REST:.*]] = arith.remui %h_w
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[BEHIND]], %[[REST]] : index
// CHECK-NEXT:    %[[PARTS:.*]] = arith.cmpi ne, %[[SUM]]
// CHECK-NEXT:    %[[MOVED:.*]] = affine.apply affine_map<(d0) -> ((((d0 + 15) floordiv 16) * 1600))> (%h_w)
// CHECK-NEXT:    %[[MOST:.*]] = affine.apply affine_map<(d0) -> ((d0 * 130))> (%h_w)
// CHECK-NEXT:    %[[AGAIN:.*]] = arith.cmpi ugt, %[[MOVED]], %[[MOST]] : index
// CHECK-NEXT:    arith.ori %[[PARTS]], %[[AGAIN]] : i1
// CHECK-NEXT:    %[[LONG:.*]] = arith.cmpi uge, %h_w
// CHECK-NEXT:    %[[HOLDS:.*]] = arith.cmpi uge, %h_w
// CHECK-NEXT:    %[[LINES:.*]] = arith.cmpi uge, %h_w_x64
// CHECK-NEXT:    %[[FITS:.*]] = arith.cmpi ule, %h_w_x64
// CHECK:         %[[EITHER:.*]] = arith.ori %[[LONG]]
// CHECK:         scf.if
// CHECK:           arith.cmpi ule, %h_w_x64
// CHECK:           scf.if
// CHECK-NEXT:        memref.alloca() {alignment = 4096 : i64} : memref<40992xf32>
// CHECK-NEXT:        scf.for %[[IMAGE:.*]] = %{{.*}} to %n step
// CHECK:               %[[AHEAD:.*]] = arith.maxui %h_w_x64, %{{.*}} : index
// CHECK-NEXT:          %[[NEXT:.*]] = arith.addi %from{{.*}}, %[[AHEAD]] : index
// CHECK-NEXT:          arith.minui %[[NEXT]]
// CHECK:           } else {
// CHECK-NEXT:        memref.alloca() {alignment = 4096 : i64} : memref<3088xf32>
// CHECK:             scf.for %{{.*}} = %{{.*}} to %h_w step
// CHECK:         } else {
// CHECK-NOT:       memref.alloca
// THREADS-LABEL: func.func @unknown(
// THREADS:         scf.if
// THREADS:           "scf.parallel"
// THREADS-NEXT:      ^bb0(%[[PART:.*]]: index):
// THREADS-NEXT:        arith.remui %[[PART]]
// THREADS-NEXT:        arith.divui %[[PART]]
// THREADS:             memref.alloca
// lines are carried from one image to the next, so that each thread takes images that follow each other
// THREADS:           "scf.parallel"
// THREADS-NEXT:      ^bb0(%part: index):
// THREADS-NEXT:        %[[FIRST:.*]] = arith.muli %part, %{{.*}} : index
// THREADS-NEXT:        %[[BEHIND:.*]] = arith.addi %[[FIRST]]
// THREADS-NEXT:        %[[END:.*]] = arith.minui %[[BEHIND]], %n : index
// THREADS-NEXT:        memref.alloca
// THREADS-NEXT:        scf.for %{{.*}} = %[[FIRST]] to %[[END]] step
// THREADS:           "scf.parallel"
// THREADS-NEXT:      ^bb0(%[[NUMBER:.*]]: index):
// THREADS-NEXT:        arith.remui %[[NUMBER]]
// THREADS-NEXT:        arith.divui %[[NUMBER]]
// THREADS:             memref.alloca
func.func @unknown(%x: !any_pixels, %y: !any_planes) {
  layout.copy %x, %y : !any_pixels to !any_planes
  func.return
}

!any_odd_planes = memref<?x100x?x?xf32>
!any_odd_pixels = memref<?x100x?x?xf32, #layout.format<"NHWC">>

// where no line is carried, the last panel is moved back until a tile fits in
// CHECK-LABEL: func.func @moved_back(
// CHECK:         %h_w = arith.muli %h, %w : index
// CHECK:         %[[SHORT:.*]] = arith.subi %h_w, %{{.*}} : index
// CHECK:         %[[LAST:.*]] = arith.subi %h_w, %{{.*}} : index
// CHECK:         scf.if
// CHECK:           arith.minui %{{.*}}, %[[SHORT]] : index
// CHECK:           memref.alloca() {alignment = 4096 : i64} : memref<5152xf32>
// CHECK:           memref.alloca() {alignment = 4096 : i64} : memref<{{[0-9]+}}xf32>
// CHECK:           scf.for %[[INDEX:.*]] = %{{.*}} to %h_w step
// CHECK-NEXT:        arith.minui %[[INDEX]], %[[LAST]] : index
func.func @moved_back(%x: !any_odd_planes, %y: !any_odd_pixels) {
  layout.copy %x, %y : !any_odd_planes to !any_odd_pixels
  func.return
}
