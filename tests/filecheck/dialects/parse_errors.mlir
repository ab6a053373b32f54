// RUN: layout-opt %s --parsing-diagnostics --split-input-file | filecheck %s

"test.op"() {l = #layout.format<"NHWH">} : () -> ()
// CHECK: parse_errors.mlir:3:33
// CHECK-NEXT: "test.op"() {l = #layout.format<"NHWH">} : () -> ()
// CHECK-NEXT:                                ^^^^^^
// CHECK-NEXT: 'NHWH': expected every dim once, got 'H' again at position 3

// -----
"test.op"() {l = #layout.format<"onednn:nChw16cc">} : () -> ()
// CHECK: {{.*}}nChw16cc{{.*}}expected{{.*}}

// -----
"test.op"() {l = #layout.format<"onedn:nchw">} : () -> ()
// CHECK: unknown system 'onedn', expected one of {{.*}}; did you mean onednn

// -----
"test.op"() {l = #layout.format<NCHW>} : () -> ()
// CHECK: string literal expected with a layout's name

// -----
"test.op"() {l = #layout.format<"NCHW", dimz = "HWCN">} : () -> ()
// CHECK: expected one of dims, groups, c0, hidden_size, input_size, strides, offset, got 'dimz'; did you mean dims?

// -----
"test.op"() {l = #layout.format<"NCHW", dims = "HWCN", dims = "NCHW">} : () -> ()
// CHECK: expected every option once, got 'dims' again

// -----
"test.op"() {l = #layout.format<"NCHW", dims = 4>} : () -> ()
// CHECK: string literal

// -----
"test.op"() {l = #layout.format<"NCHW", dims = "HWCX">} : () -> ()
// CHECK: expected dims to be an order of NCHW, got 'HWCX'

// -----
"test.op"() {l = #layout.tiled<(d0) -> (d1)>} : () -> ()
// CHECK: Identifier not in space d1

// -----
"test.op"() {l = #layout.tiled<(d0)[s0] -> (d0 + s0)>} : () -> ()
// CHECK: tiled layout: expected dims only, got 1 symbols

// -----
"test.op"() {l = #layout.tiled<(d0, d1) -> (d0 * d1)>} : () -> ()
// CHECK: tiled layout: expected floordiv, mod and * by constants only

// -----
"test.op"() {l = #layout.tiled<(d0) -> (d0 mod 0)>} : () -> ()
// CHECK: tiled layout: expected divisors of at least 1, got d0 mod 0

// -----
"test.op"() {l = #layout.tiled<(d0) -> (d0), round_up = [4, 4]>} : () -> ()
// CHECK: tiled layout: expected round_up to be 1 positive numbers, got [4, 4]

// -----
"test.op"() {l = #layout.tiled<(d0) -> (d0), image>} : () -> ()
// CHECK: image layout: expected 3 axes (row, column, lane), got 1

// -----
"test.op"() {l = #layout.tiled<(d0) -> (d0), images>} : () -> ()
// CHECK: expected round_up, image or allocation

// -----
"test.op"() {l = #layout.opaque<-1>} : () -> ()
// CHECK: -1

// -----
%0 = "test.op"() : () -> tensor<4xf32>
%1 = layout.reorder %0 pad = : tensor<4xf32> to tensor<4xf32>
// CHECK: expected undef or a typed number such as 7 : i8

// -----
%0 = "test.op"() : () -> tensor<4xf32>
%1 = layout.reorder %0 : tensor<4xf32>, tensor<4xf32>
// CHECK: to

// -----
%0 = "test.op"() : () -> tensor<4xi8>
%1 = layout.reorder %0 pad = 7 : tensor<4xi8> to tensor<4xi8>
// CHECK: expected undef or a typed number such as 7 : i8
