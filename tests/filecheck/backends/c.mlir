// RUN: layout-opt %s -t c | filecheck %s
// RUN: layout-opt %s -p layout-lower -t c | filecheck %s
// RUN: layout-opt %s -t 'c{header=true}' | filecheck %s --check-prefix HEADER

// A module with layouts is lowered first; the printed module is the same as when the passes are asked for.

func.func @pack(%x : tensor<1x20x3x3xf32>) -> tensor<1x20x3x3xf32, #layout.format<"onednn:nChw16c">> {
  %y = layout.reorder %x : tensor<1x20x3x3xf32> to tensor<1x20x3x3xf32, #layout.format<"onednn:nChw16c">>
  return %y : tensor<1x20x3x3xf32, #layout.format<"onednn:nChw16c">>
}

// CHECK: #include <stdint.h>
// CHECK-NOT: #include <string.h>
// CHECK: void pack(const float *restrict x, float *restrict y) {
// CHECK-NEXT: for (int64_t
// CHECK: y[{{.*}}] = x[{{.*}}];
// CHECK: y[{{.*}}] = 0.0f;

// HEADER: #pragma once
// HEADER: extern "C" {
// HEADER: /* The buffers must not overlap.
// HEADER-NEXT: * x: 180 elements of f32
// HEADER-NEXT: * y: 288 elements of f32
// HEADER-NEXT: */
// HEADER-NEXT: void pack(const float *x, float *y);
// HEADER-NOT: for
