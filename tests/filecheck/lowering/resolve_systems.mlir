// RUN: layout-opt %s -p 'layout-resolve{systems=dnnl,plain}' | filecheck %s
// RUN: layout-opt %s -p 'layout-resolve{systems=ascend}' | filecheck %s --check-prefix=ASCEND

// only the named systems are resolved, under any of their names; open layouts wait
// CHECK: @f(tensor<1x16x2x2xf16, #layout.tiled<{{.*}}>>, tensor<1x16x2x2xf16, #layout.format<"ascend:NC1HWC0">>, tensor<1x16x2x2xf16, #layout.tiled<{{.*}}>>, tensor<4xf32, #layout.any>)
// ASCEND: @f(tensor<1x16x2x2xf16, #layout.format<"onednn:nChw16c">>, tensor<1x16x2x2xf16, #layout.tiled<{{.*}}>>, tensor<1x16x2x2xf16, #layout.format<"NHWC">>, tensor<4xf32, #layout.any>)
func.func private @f(tensor<1x16x2x2xf16, #layout.format<"onednn:nChw16c">>, tensor<1x16x2x2xf16, #layout.format<"ascend:NC1HWC0">>, tensor<1x16x2x2xf16, #layout.format<"NHWC">>, tensor<4xf32, #layout.any>)
