// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=zen-4}" | filecheck %s --check-prefix ZEN
// RUN: layout-opt %s -p "layout-lower{vector-bytes=64 stream-bytes=0 processor=zen-4}" | filecheck %s --check-prefix ALL
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0}" | filecheck %s --check-prefix ENDS
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 panels=true stream-bytes=0 processor=zen-4}" | filecheck %s --check-prefix ZEN-ENDS
// RUN: not layout-opt %s -p "layout-to-loops{vector-bytes=64 processor=zen4}" 2>&1 | filecheck %s --check-prefix NO-SUCH

!planes = memref<1x32x56x56xf32>
!pixels = memref<1x32x56x56xf32, #layout.format<"NHWC">>

// blocks of two by two tiles by default, whose loads ask for lines of a first level cache
// CHECK-LABEL: func.func @near(
// CHECK-COUNT-3: scf.for
// CHECK:         vector.load %{{.*}} {prefetch = 32 : index} : memref<100352xf32>

// Zen 4 goes on along the source where lines of the destination are near, and asks for lines of the second level
// ZEN-LABEL:   func.func @near(
// ZEN-COUNT-2:   scf.for
// ZEN-NOT:       scf.for
// each line four times, as one request is not always granted
// ZEN:           vector.load %{{.*}} {prefetch = 80 : index, locality = 2 : index, times = 4 : index} : memref<100352xf32>

// ALL-LABEL:   func.func @near(
// ALL:           vector.load %{{.*}} {prefetch = 80 : index, locality = 2 : index, times = 4 : index} : memref<100352xf32>

// NO-SUCH: layout-to-loops: expected processor to be one of ice-lake, sapphire-rapids, emerald-rapids, granite-rapids, zen-3, zen-4, got zen4; did you mean zen-4 or zen-3?
func.func @near(%x: !planes, %y: !pixels) {
  layout.copy %x, %y : !planes to !pixels
  func.return
}

!planes_of_pages = memref<1x32x64x64xf32>
!pixels_of_pages = memref<1x32x64x64xf32, #layout.format<"NHWC">>

// but not where the rows that it reads are whole pages apart
// ZEN-LABEL:   func.func @pages(
// ZEN-COUNT-3:   scf.for
// ZEN:           vector.load %{{.*}} {prefetch = 32 : index, locality = 2 : index, times = 4 : index} : memref<131072xf32>
func.func @pages(%x: !planes_of_pages, %y: !pixels_of_pages) {
  layout.copy %x, %y : !planes_of_pages to !pixels_of_pages
  func.return
}

!images = memref<2x128x16x16xf32>
!images_as_pixels = memref<2x128x16x16xf32, #layout.format<"NHWC">>

// nor where lines of the destination crowd a part of the sets
// ZEN-LABEL:   func.func @crowded(
// ZEN-COUNT-4:   scf.for
// ZEN:           vector.load
func.func @crowded(%x: !images_as_pixels, %y: !images) {
  layout.copy %x, %y : !images_as_pixels to !images
  func.return
}

!rows = memref<128x2048xf32>
!columns = memref<128x2048xf32, #layout.format<"CN">>

// nor where they are a page apart or more
// ZEN-LABEL:   func.func @far(
// ZEN-COUNT-4:   scf.for
// ZEN:           vector.load %{{.*}} {{{.*}}locality = 2 : index}
func.func @far(%x: !columns, %y: !rows) {
  layout.copy %x, %y : !columns to !rows
  func.return
}

!rows_with_gaps = memref<2x64x56x56xf32, strided<[430080, 6720, 120, 1]>>
!dense_rows = memref<2x64x56x56xf32>

// a panel of four rows, whose scratch buffer stays in a page: Zen 4 asks for the lines at the ends of later rows
// ENDS-LABEL:     func.func @gaps(
// ENDS:             memref.alloca() {alignment = 2048 : i64} : memref<336xf32>
// ENDS-COUNT-2:     vector.maskedstore %{{.*}} : memref<
// ZEN-ENDS-LABEL: func.func @gaps(
// ZEN-ENDS-COUNT-2: vector.maskedstore %{{.*}} {prefetch = 1920 : index} : memref<
func.func @gaps(%x: !dense_rows, %y: !rows_with_gaps) {
  layout.copy %x, %y : !dense_rows to !rows_with_gaps
  func.return
}

!halves_with_gaps = memref<2x64x56x56xf16, strided<[430080, 6720, 120, 1]>>
!half_pixels = memref<2x64x56x56xf16, #layout.format<"NHWC">>

// rows end soon, with gaps behind them: each tile asks for 16 of the 64 whole rows that the next %c takes, or the next
// %a where there is none; that the last element's line is another one than the one before is possible
// ZEN-LABEL:   func.func @next_rows(
// ZEN:           %[[CHANNELS:.*]] = arith.constant 64 : index
// ZEN:           %[[TURNS:.*]] = arith.cmpi uge, %[[BEHIND:.*]], %{{.*}} : index
// ZEN-NEXT:      %[[ROW:.*]] = arith.select %[[TURNS]], %[[ZERO:.*]], %[[BEHIND]] : index
// ZEN-NEXT:      %[[STEP:.*]] = arith.select %[[TURNS]], %{{.*}}, %[[ZERO]] : index
// ZEN-NEXT:      %{{.*}} = arith.addi %a, %[[STEP]] : index
// ZEN-NEXT:      arith.cmpi
// ZEN-NEXT:      %[[IMAGE:.*]] = arith.select %{{.*}}, %[[ZERO]], %{{.*}} : index
// ZEN-NEXT:      %[[FIRST:.*]] = affine.apply affine_map<(d0, d1) -> ((d0 + (((d1 + 31) floordiv 32) * 16)))>
// ZEN:           %[[LAST:.*]] = arith.minui %{{.*}}, %[[CHANNELS]] : index
// ZEN:           scf.for %b_ahead = %[[FIRST]] to %[[LAST]] step
// ZEN:             scf.for %ahead
// ZEN-NEXT:          %[[ELEMENT:.*]] = arith.minui %ahead, %{{.*}} : index
// ZEN-NEXT:          %[[PLACE:.*]] = affine.apply {{.*}} (%[[IMAGE]], %[[ROW]], %b_ahead, %[[ELEMENT]])
// ZEN-NEXT:          vector.load %{{.*}}[%[[PLACE]]] {prefetch = 0 : index, locality = 2 : index, times = 4 : index} : {{.*}}, vector<1xf16>
// ZEN:           vector.load %{{.*}} : memref<860096xf16>, vector<32xf16>
func.func @next_rows(%x: !halves_with_gaps, %y: !half_pixels) {
  layout.copy %x, %y : !halves_with_gaps to !half_pixels
  func.return
}

!bytes = memref<2x64x56x56xi8>
!bytes_with_gaps = memref<2x64x56x56xi8, strided<[430080, 6720, 120, 1]>>

// rows that begin anywhere within lines are asked for once
// ZEN-LABEL:   func.func @bytes(
// ZEN:           vector.load %{{.*}} {prefetch = 5120 : index, locality = 2 : index} : memref<401408xi8>
func.func @bytes(%x: !bytes, %y: !bytes_with_gaps) {
  layout.copy %x, %y : !bytes to !bytes_with_gaps
  func.return
}

!unknown_planes = memref<?x64x?x?xf32>
!unknown_pixels = memref<?x64x?x?xf32, #layout.format<"NHWC">>

// in the caches half lines, but for Zen 4, where rows so far apart may all belong to one set
// CHECK-LABEL: func.func @unknown(
// CHECK:         vector<8xf32>
// ZEN-LABEL:   func.func private @unknown_tile0(
// ZEN:           vector.load %source[%asked] {prefetch = 0 : index, locality = 2 : index, times = 4 : index} : memref<?xf32>, vector<1xf32>
// ZEN-NEXT:      %line = vector.load %source[%from] : memref<?xf32>, vector<16xf32>
// ZEN-LABEL:   func.func @unknown(
// ZEN-NOT:       vector<8xf32>
// Zen 4 asks for what lies behind all 16 rows of a tile where they are not longer than 16 KB each, but not behind the end
// of the source
// ZEN:           %[[SHORT:.*]] = arith.cmpi ule, %[[ROWS:.*]], %{{.*}} : index
// ZEN-NEXT:      %[[BEHIND:.*]] = affine.apply affine_map<(d0) -> (((((d0 + 1023) floordiv 1024) * 1024) + 512))> (%[[ROWS]])
// ZEN-NEXT:      %[[DISTANCE:.*]] = arith.select %[[SHORT]], %[[BEHIND]], %{{.*}} : index
// ZEN-NEXT:      %[[AHEAD:.*]] = arith.addi %from, %[[DISTANCE]] : index
// ZEN-NEXT:      %[[PLACE:.*]] = arith.minui %[[AHEAD]], %{{.*}} : index
// ZEN-NEXT:      func.call @unknown_tile0(%{{.*}}, %{{.*}}, %from, %to, %[[PLACE]],
func.func @unknown(%x: !unknown_planes, %y: !unknown_pixels) {
  layout.copy %x, %y : !unknown_planes to !unknown_pixels
  func.return
}

!few_of_blocks = memref<16x4x64x64xf32, #layout.format<"onednn:nChw16c">>
!few_planes = memref<16x4x64x64xf32>

// what reads far more lines than it writes goes by panels on Zen 4 where the destination begins at a line as well, and
// asks for what the next panel reads, half a line further: once, as it is asked for while this one is written too
// ENDS-LABEL:     func.func @picked(
// ENDS:             scf.if
// ENDS-NOT:         alloca
// ENDS:             vector.load %{{.*}} {prefetch = 1280 : index}
// ENDS-NOT:         alloca
// ENDS:           } else {
// ZEN-ENDS-LABEL: func.func @picked(
// ZEN-ENDS:         scf.if
// ZEN-ENDS-NEXT:      memref.alloca() {{.*}} : memref<848xf32>
// ZEN-ENDS:           vector.load %{{.*}} {prefetch = 3336 : index, locality = 2 : index} : memref<1048576xf32>
// ZEN-ENDS:           scf.for %c_d_ahead
// ZEN-ENDS:         } else {
func.func @picked(%x: !few_of_blocks, %y: !few_planes) {
  layout.copy %x, %y : !few_of_blocks to !few_planes
  func.return
}
