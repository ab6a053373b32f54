// RUN: layout-opt %s | filecheck %s --check-prefix PARSED
// RUN: layout-opt %s -p layout-resolve | filecheck %s --check-prefix RESOLVED
// RUN: layout-opt %s -p layout-resolve,canonicalize,layout-to-buffers | filecheck %s --check-prefix COMPOSED
// RUN: layout-opt %s -p layout-resolve,layout-to-buffers | filecheck %s --check-prefix BUFFERS
// RUN: layout-opt %s -p layout-resolve,layout-to-buffers,layout-to-loops | filecheck %s --check-prefix LOOPS
// RUN: layout-opt %s -p layout-lower | filecheck %s --check-prefix FLAT
// RUN: layout-opt %s -p layout-lower | layout-opt -t c | filecheck %s --check-prefix C
// RUN: layout-opt %s -p 'layout-lower{vector_bytes=64}' -t c | filecheck %s --check-prefix CASES

!planar = tensor<?x64x?x?xf32, #layout.format<"NCHW">>
!blocked = tensor<?x64x?x?xf32, #layout.format<"onednn:nChw16c">>

// names and extents stay as they are written
// PARSED-LABEL: func.func @pack(%x: tensor<?x64x?x?xf32, #layout.format<"NCHW">>) -> tensor<?x64x?x?xf32, #layout.format<"onednn:nChw16c">> {
// PARSED-NEXT:    %y = layout.reorder %x : tensor<?x64x?x?xf32, #layout.format<"NCHW">> to tensor<?x64x?x?xf32, #layout.format<"onednn:nChw16c">>

// a layout says no names of dims any more, so the argument does
// RESOLVED-LABEL: func.func @pack(%x: tensor<?x64x?x?xf32, #layout.tiled<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>> {layout.dims = "n,c,h,w"}) ->

// LOOPS-LABEL: func.func @pack
// LOOPS:         %n = memref.dim %x, %{{.*}} : memref<?x64x?x?xf32
// LOOPS-NEXT:    %h = memref.dim %x, %{{.*}} : memref<?x64x?x?xf32
// LOOPS-NEXT:    %w = memref.dim %x, %{{.*}} : memref<?x64x?x?xf32
// LOOPS:         layout.storage %x : memref<?x64x?x?xf32, {{.*}}> to memref<?xf32>

// FLAT-LABEL: func.func @pack(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %h: index, %w: index) {
// FLAT-NOT:     {{layout|memref.dim}}
// FLAT:         %h_w = arith.muli %h, %w : index
// FLAT:         scf.for %c_d = %{{.*}} to %h_w

// C:       void pack(const float *restrict x, float *restrict y, int64_t n, int64_t h, int64_t w) {
// C-NEXT:    const int64_t h_w = h * w;
// C-NEXT:    const int64_t h_w_x16 = 16 * h_w;
// C-NEXT:    for (int64_t a_b1 = 0; a_b1 < 4 * n; a_b1++) {
// C-NEXT:      for (int64_t c_d = 0; c_d < h_w; c_d++) {
// C-NEXT:        for (int64_t b0 = 0; b0 < 16; b0++) {
// C-NEXT:          y[a_b1 * h_w_x16 + 16 * c_d + b0] = x[a_b1 * h_w_x16 + c_d + b0 * h_w];

// by vectors there are several ways, of which a call takes one
// CASES:       static __attribute__((noinline)) void pack_0(
// CASES:       void pack(const float *restrict x, float *restrict y, int64_t n, int64_t h, int64_t w) {
// CASES-NEXT:    const int64_t h_w = h * w;
// CASES-NEXT:    const int64_t n_h_w_x64 = 64 * (n * h * w);
// CASES-NEXT:    const int64_t n_x4 = 4 * n;
// CASES:         if (h_w >= 16) {
// CASES-NEXT:      if (n_h_w_x64 >= 6291456) {
// CASES-NEXT:        if ((int64_t)(uintptr_t)y % 64 == 0) {
// CASES-NEXT:          pack_0(x, y, n, h, w);
// CASES-NEXT:        } else {
// CASES-NEXT:          pack_1(x, y, n, h, w);
// CASES-NEXT:        }
// images of 1 x 1, 2 x 2 and 3 x 3 need no other size than their number, and go past the caches in whole lines alone
// CASES:         if (h_w == 1) {
// CASES:         if (h_w == 2) {
// CASES-NEXT:      if (n_x128 >= 6291456 && (int64_t)(uintptr_t)y % 64 == 0) {
// CASES-NEXT:        pack_7(x, y, n);
// CASES-NEXT:      } else {
// CASES-NEXT:        pack_8(x, y, n);
// CASES-NEXT:      }
// CASES:         if (h_w == 4) {
// CASES:         if (h_w == 9) {
// CASES-NEXT:      if (n_x576 >= 6291456 && (int64_t)(uintptr_t)y % 64 == 0) {
// CASES-NEXT:        pack_11(x, y, n);
// CASES:         if (h_w >= 8) {
func.func @pack(%x: !planar) -> !blocked {
  %y = layout.reorder %x : !planar to !blocked
  func.return %y : !blocked
}

// what lies between two reorders is allocated when its size is known
// COMPOSED-LABEL: func.func @chain(
// COMPOSED-NOT:     memref.alloc
// COMPOSED:         func.func @rows

// BUFFERS-LABEL: func.func @chain(%x: memref<?x64x?x?xf32, {{.*}} {layout.dims = "n,c,h,w"}, %z: memref<
// BUFFERS:         %n = memref.dim %x
// BUFFERS:         %h = memref.dim %x
// BUFFERS:         %w = memref.dim %x
// BUFFERS:         %y = memref.alloc(%n, %h, %w) : memref<?x64x?x?xf32

// FLAT-LABEL: func.func @chain(%x: memref<?xf32>, %z: memref<?xf32>, %n: index, %h: index, %w: index) {
// FLAT:         memref.alloc(%{{.*}}) : memref<?xf32>
// FLAT:         memref.dealloc %y : memref<?xf32>
func.func @chain(%x: !planar) -> !planar {
  %y = layout.reorder %x : !planar to !blocked
  %z = layout.reorder %y : !blocked to !planar
  func.return %z : !planar
}

// a dim in blocks: the pads of the last block, then full blocks, then the rest
// C:       void rows(const int8_t *restrict x, int8_t *restrict y, int64_t d0) {
// C-NEXT:    const int64_t d0_full = d0 / 16;
// C:         for (int64_t a1 = 0; a1 < d0_full; a1++) {
func.func @rows(%x: memref<?x3xi8>, %y: memref<?x3xi8, #layout.tiled<(d0, d1) -> (d0 floordiv 16, d1, d0 mod 16)>>) {
  layout.copy %x, %y : memref<?x3xi8> to memref<?x3xi8, #layout.tiled<(d0, d1) -> (d0 floordiv 16, d1, d0 mod 16)>>
  func.return
}

// blocks that do not nest: blocks of 12, where both meet; of the next one each 2 rows that are there; a last row
// C:       void crossing(const int8_t *restrict x, int8_t *restrict y, int64_t d0) {
// C:         const int64_t [[BOTH:\w+]] = d0 / 12;
// C:         const int64_t [[PAIRS:\w+]] = 2 * (d0 / 2);
// C-NEXT:    const int64_t [[LAST:\w+]] = d0 - [[PAIRS]];
// C:         for (int64_t a1 = 0; a1 < [[BOTH]]; a1++) {
// a row that there may be is looked for before all of its elements are
// C:         for (int64_t a1 = 0; a1 < (d0 + 10) / 12 - [[BOTH]]; a1++) {
// C-NEXT:      for (int64_t b = 0; b < 3; b++) {
// C:         for (int64_t a1 = 0; a1 < (d0 + 8) / 12 - [[BOTH]]; a1++) {
// C:           for (int64_t a = 0; a < [[LAST]]; a++) {
func.func @crossing(%x: memref<?x3xi8, #layout.tiled<(d0, d1) -> (d0 floordiv 6, d1, d0 mod 6)>>, %y: memref<?x3xi8, #layout.tiled<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>>) {
  layout.copy %x, %y : memref<?x3xi8, #layout.tiled<(d0, d1) -> (d0 floordiv 6, d1, d0 mod 6)>> to memref<?x3xi8, #layout.tiled<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>>
  func.return
}

// two tensors of their own sizes
// FLAT-LABEL: func.func @two(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %t: memref<?xf32>, %n: index, %n_1: index) {
func.func @two(%x: tensor<?x2xf32>, %y: tensor<?x3xf32>) -> (tensor<?x2xf32, #layout.format<"CN">>, tensor<?x3xf32, #layout.format<"CN">>) {
  %z = layout.reorder %x : tensor<?x2xf32> to tensor<?x2xf32, #layout.format<"CN">>
  %t = layout.reorder %y : tensor<?x3xf32> to tensor<?x3xf32, #layout.format<"CN">>
  func.return %z, %t : tensor<?x2xf32, #layout.format<"CN">>, tensor<?x3xf32, #layout.format<"CN">>
}
