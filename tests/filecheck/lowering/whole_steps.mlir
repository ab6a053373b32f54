// RUN: layout-opt %s -p "layout-lower{vector_bytes=64 panels=true processor=zen-4}" -t c | filecheck %s
// RUN: layout-opt %s -p "layout-lower{vector_bytes=64 panels=true processor=emerald-rapids}" -t c | filecheck %s --check-prefix EMERALD

// whole blocks of channels and the rest of them: images that a first level cache holds are written at once; those of
// less than a vector by shorter tiles, of half as many pixels; the others block by block
// CHECK-LABEL: void blocks_and_rest(
// CHECK:         const int64_t [[IMAGE:[a-z_0-9]+]] = 48 * h_w;
// CHECK:         h_w >= 64 && {{.*}}[[IMAGE]] >= 192 && [[IMAGE]] <= 20480
// CHECK:         (h_w >= 64) == 0 && h_w >= 32
func.func @blocks_and_rest(%x: tensor<?x35x?x?xi8, #layout.format<"NCHW">>) -> tensor<?x35x?x?xi8, #layout.format<"onednn:nChw16c">> {
  %y = layout.reorder %x : tensor<?x35x?x?xi8, #layout.format<"NCHW">> to tensor<?x35x?x?xi8, #layout.format<"onednn:nChw16c">>
  func.return %y : tensor<?x35x?x?xi8, #layout.format<"onednn:nChw16c">>
}

// of larger images some channels at a time: few while these are small, more of larger ones
// CHECK-LABEL: void planes(
// CHECK:         [[CHANNELS:h_w_x512]] <= 5120
// CHECK:         [[FEW:h_w_x16]] <= 1024
// CHECK:         [[MORE:h_w_x64]] <= 16384
// Sapphire Rapids takes half as many
// EMERALD-LABEL: void planes(
// EMERALD:         [[CHANNELS:h_w_x32]] <= 16384
func.func @planes(%x: tensor<?x512x?x?xf32, #layout.format<"NHWC">>) -> tensor<?x512x?x?xf32, #layout.format<"NCHW">> {
  %y = layout.reorder %x : tensor<?x512x?x?xf32, #layout.format<"NHWC">> to tensor<?x512x?x?xf32, #layout.format<"NCHW">>
  func.return %y : tensor<?x512x?x?xf32, #layout.format<"NCHW">>
}

// what is mostly pads is left to tiles where images hold no vector of a line
// CHECK-LABEL: void mostly_pads(
// CHECK-NOT:     == 0 && h_w >= 32
// CHECK:         if (h_w >= 32) {
func.func @mostly_pads(%x: tensor<?x3x?x?xi8, #layout.format<"NCHW">>) -> tensor<?x3x?x?xi8, #layout.format<"onednn:nChw16c">> {
  %y = layout.reorder %x : tensor<?x3x?x?xi8, #layout.format<"NCHW">> to tensor<?x3x?x?xi8, #layout.format<"onednn:nChw16c">>
  func.return %y : tensor<?x3x?x?xi8, #layout.format<"onednn:nChw16c">>
}

// images of few planes at once only where they are small, and in one row as far as small panels have long runs
// CHECK-LABEL: void few_planes(
// CHECK:         [[PLANES:h_w_x3]] <= 8192
// CHECK-LABEL: void few_rows(
// CHECK:         [[ROWS:h_w_x3]] <= 5120
// CHECK-LABEL: void more_rows(
// CHECK:         [[OTHERS:h_w_x35]] <= 40960
func.func @few_planes(%x: tensor<?x3x?x?xi8, #layout.format<"NCHW">>) -> tensor<?x3x?x?xi8, #layout.format<"NHWC">> {
  %y = layout.reorder %x : tensor<?x3x?x?xi8, #layout.format<"NCHW">> to tensor<?x3x?x?xi8, #layout.format<"NHWC">>
  func.return %y : tensor<?x3x?x?xi8, #layout.format<"NHWC">>
}
func.func @few_rows(%x: tensor<?x3x?x?xf32, #layout.format<"NHWC">>) -> tensor<?x3x?x?xf32, #layout.format<"NCHW">> {
  %y = layout.reorder %x : tensor<?x3x?x?xf32, #layout.format<"NHWC">> to tensor<?x3x?x?xf32, #layout.format<"NCHW">>
  func.return %y : tensor<?x3x?x?xf32, #layout.format<"NCHW">>
}
func.func @more_rows(%x: tensor<?x35x?x?xf32, #layout.format<"NHWC">>) -> tensor<?x35x?x?xf32, #layout.format<"NCHW">> {
  %y = layout.reorder %x : tensor<?x35x?x?xf32, #layout.format<"NHWC">> to tensor<?x35x?x?xf32, #layout.format<"NCHW">>
  func.return %y : tensor<?x35x?x?xf32, #layout.format<"NCHW">>
}

// blocks of channels become planes one by one where all of an image is too much for one panel
// EMERALD-LABEL: void of_blocks(
// EMERALD:         [[BLOCKS:h_w_x96]] <= 10240
// EMERALD:         [[ONE:h_w_x16]] <= 14336
// CHECK-LABEL: void of_blocks(
// CHECK:         [[BLOCKS:h_w_x96]] <= 81920
// CHECK-NOT:     h_w_x16 <= 32768
func.func @of_blocks(%x: tensor<?x100x?x?xf16, #layout.format<"onednn:nChw16c">>) -> tensor<?x100x?x?xf16, #layout.format<"NCHW">> {
  %y = layout.reorder %x : tensor<?x100x?x?xf16, #layout.format<"onednn:nChw16c">> to tensor<?x100x?x?xf16, #layout.format<"NCHW">>
  func.return %y : tensor<?x100x?x?xf16, #layout.format<"NCHW">>
}
