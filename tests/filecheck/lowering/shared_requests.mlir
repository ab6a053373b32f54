// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=sapphire-rapids}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=emerald-rapids}" | filecheck %s --check-prefix OTHERS

!pixels = memref<2x64x12x16xf32, #layout.format<"NHWC">>
!planes = memref<2x64x12x16xf32>

// the eight tiles of a block of 32 pixels ask for the next 8 KB line by line, each for 16 lines that follow each other
// CHECK-LABEL: func.func @planes(
// CHECK:         %ahead = affine.apply affine_map<(d0, d1, d2) -> ({{.*}} mod 2) * 256{{.*}}(d1 + 15) floordiv 32{{.*}}2048{{.*}}>
// CHECK-NEXT:    %[[PLACE:.*]] = arith.minui %ahead, %{{.*}} : index
// CHECK-NEXT:    vector.load %{{.*}}[%[[PLACE]]] {prefetch = 0 : index, locality = 2 : index} : memref<24576xf32>, vector<1xf32>
// CHECK-NEXT:    %line = vector.load %{{.*}} : memref<24576xf32>, vector<16xf32>
// CHECK-NOT:     vector.load {{.*}} {prefetch = {{[1-9]}}
// CHECK:         vector.shuffle
// OTHERS-LABEL: func.func @planes(
// OTHERS:         %line = vector.load %{{.*}} {prefetch = 2048 : index, locality = 2 : index} : memref<24576xf32>, vector<16xf32>
func.func @planes(%x: !pixels, %y: !planes) {
  layout.copy %x, %y : !pixels to !planes
  func.return
}
