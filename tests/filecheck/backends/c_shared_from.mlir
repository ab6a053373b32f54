// RUN: layout-opt %s -p "layout-to-loops{threads=true share_bytes=65536},layout-flatten" | filecheck %s --check-prefix LOOPS
// RUN: layout-opt %s -p "layout-to-loops{threads=true share_bytes=65536},layout-flatten" -t c | filecheck %s --check-prefix TEXT
// RUN: layout-opt %s -p "layout-to-loops{threads=true},layout-flatten" -t c | filecheck %s --check-prefix ALWAYS
// RUN: layout-opt %s -p "layout-to-loops{threads=true share_bytes=65536 vector_bytes=64},layout-flatten" -t c | filecheck %s --check-prefix LINES

!rows = memref<?x2x4xf32>
!turned = memref<?x2x4xf32, #layout.tiled<(a, b, c) -> (a, c, b)>>

// below 1024 elements, which count as lines, the parallel loop has one iteration with all others in it: threads sleep on
// LOOPS-LABEL: func.func @any_size(
// LOOPS:         %[[CELLS:.*]] = arith.muli %[[ROWS:.*]], %{{.*}} : index
// LOOPS:         %[[SMALL:.*]] = arith.cmpi ult, %[[CELLS]], %{{.*}} : index
// LOOPS:         %[[WHOLE:.*]] = arith.maxui %[[ROWS]], %[[ONE:.*]] : index
// LOOPS:         %[[SHARE:.*]] = arith.select %[[SMALL]], %[[WHOLE]], %[[ONE]] : index
// LOOPS:         "scf.parallel"(%{{.*}}, %[[ROWS]], %[[SHARE]])
// LOOPS-NEXT:    ^{{.*}}(%a_share: index):
// LOOPS-NEXT:      %[[BEHIND:.*]] = arith.addi %a_share, %[[SHARE]] : index
// LOOPS-NEXT:      %[[END:.*]] = arith.minui %[[BEHIND]], %[[ROWS]] : index
// LOOPS-NEXT:      scf.for %a = %a_share to %[[END]] step %[[ONE]] {

// TEXT-LABEL: void any_size(
// TEXT:         const int64_t v = d0 > 1 ? d0 : 1;
// TEXT:         const int64_t [[SHARE:v_[0-9]+]] = 8 * d0 < 1024 ? v : 1;
// TEXT:         if ([[SHARE]] < d0) {
// TEXT:       #pragma omp parallel for{{$}}
// TEXT:           for (int64_t a_share = 0; a_share < d0; a_share += [[SHARE]]) {
// TEXT:         } else {
// TEXT-NEXT:      for (int64_t a_share = 0; a_share < d0; a_share += [[SHARE]]) {
// TEXT-NOT:   #pragma

// ALWAYS-LABEL: void any_size(
// ALWAYS:     #pragma omp parallel for{{$}}
// ALWAYS-NOT:   a_share
func.func @any_size(%x: !rows, %y: !turned) {
  layout.copy %x, %y : !rows to !turned
  func.return
}

!whole = memref<?x2x32xf32>
!swapped = memref<?x2x32xf32, #layout.tiled<(a, b, c) -> (b, a, c)>>

// loops with the code of tiles in them are not printed twice
// TEXT-LABEL: void lines(
// LINES-LABEL: void lines(
// LINES:      #pragma omp parallel for collapse(2) if({{.*}} < d0 || {{.*}} < 2)
// LINES-NEXT: #endif
// LINES-NEXT:   for (int64_t a_share = 0;
func.func @lines(%x: !whole, %y: !swapped) {
  layout.copy %x, %y : !whole to !swapped
  func.return
}
