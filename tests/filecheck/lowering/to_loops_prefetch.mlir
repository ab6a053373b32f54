// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64}" | filecheck %s

!planes = memref<1x32x56x60xf32>
!blocks = memref<1x32x56x60xf32, #layout.format<"onednn:nChw16c">>
!pixels = memref<1x32x56x60xf32, #layout.format<"NHWC">>

// what stays in the caches is asked for before it is written: one sequence of lines five kilobytes ahead
// CHECK-LABEL: func.func @one_sequence(
// CHECK:         vector.load %{{.*}} : memref<107520xf32>
// CHECK:         vector.store %{{.*}} {prefetch = 1280 : index} : memref<107520xf32>
// CHECK:         func.return
func.func @one_sequence(%x: !planes, %y: !blocks) {
  layout.copy %x, %y : !planes to !blocks
  func.return
}

// several sequences two lines ahead each
// CHECK-LABEL: func.func @several(
// CHECK:         vector.store %{{.*}} {prefetch = 32 : index} : memref<107520xf32>
// CHECK:         func.return
func.func @several(%x: !pixels, %y: !planes) {
  layout.copy %x, %y : !pixels to !planes
  func.return
}

!square_planes = memref<1x32x64x64xf32>
!square_pixels = memref<1x32x64x64xf32, #layout.format<"NHWC">>

// but none where all belong to one set of a cache, which has not as many places
// CHECK-LABEL: func.func @one_set(
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @one_set(%x: !square_pixels, %y: !square_planes) {
  layout.copy %x, %y : !square_pixels to !square_planes
  func.return
}

!few = memref<1x32x8x8xf32>
!few_pixels = memref<1x32x8x8xf32, #layout.format<"NHWC">>

// nor where all of the destination comes from a near cache
// CHECK-LABEL: func.func @near(
// CHECK-NOT:     prefetch
// CHECK:         func.return
func.func @near(%x: !few, %y: !few_pixels) {
  layout.copy %x, %y : !few to !few_pixels
  func.return
}
