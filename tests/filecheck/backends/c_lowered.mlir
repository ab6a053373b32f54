// RUN: layout-opt %s -t c | filecheck %s

func.func @rows(%source : memref<1024xf32>, %destination : memref<1024xf32>, %for : index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c5000000000 = arith.constant 5000000000 : index
  "scf.parallel"(%c0, %c32, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%row : index):
    %at = affine.apply affine_map<(d0) -> (d0 * 32)> (%row)
    %left = vector.load %source[%at] : memref<1024xf32>, vector<16xf32>
    %pair = vector.shuffle %left, %left [0, 16, 1, 17] : vector<16xf32>, vector<16xf32>
    vector.store %pair, %destination[%at] : memref<1024xf32>, vector<4xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  scf.for %i = %c0 to %c5000000000 step %c32 {
    %at = affine.apply affine_map<(d0, d1) -> (d0 floordiv 8 + d1 mod 8)> (%i, %for)
    %value = memref.load %source[%at] : memref<1024xf32>
    memref.store %value, %destination[%i] : memref<1024xf32>
  }
  return
}

// CHECK: typedef float f32x16 __attribute__((vector_size(64)));
// CHECK-NEXT: typedef float f32x16_unaligned __attribute__((vector_size(64), aligned(1), may_alias));
// CHECK-NEXT: typedef float f32x4 __attribute__((vector_size(16)));

// CHECK: void rows(const float *restrict source, float *restrict destination, int64_t for_) {
// CHECK-NEXT: #ifdef _OPENMP
// CHECK-NEXT: #pragma omp parallel for
// CHECK-NEXT: #endif
// CHECK-NEXT:   for (int64_t row = 0; row < 32; row++) {
// CHECK-NEXT:     const int64_t at = 32 * row;
// CHECK-NEXT:     const f32x16 left = *(const f32x16_unaligned *)&source[at];
// CHECK-NEXT:     const f32x4 pair = __builtin_shufflevector(left, left, 0, 16, 1, 17);
// CHECK-NEXT:     *(f32x4_unaligned *)&destination[at] = pair;
// CHECK-NEXT:   }
// CHECK-NEXT:   for (int64_t i = 0; i < 5000000000; i += 32) {
// CHECK-NEXT:     destination[i] = source[i / 8 + for_ % 8];
// CHECK-NEXT:   }
// CHECK-NEXT: }
