// RUN: layout-opt %s -t c | filecheck %s
// RUN: layout-opt %s -t c | filecheck %s --check-prefix PRELUDE

// a processor with masks for bytes stores a part of a line at once; a store of nothing is none at all
// PRELUDE: static inline void layout_store_part(void *target, const void *vector, size_t bytes) {
// PRELUDE-NEXT:   if (bytes == 0) return;
// PRELUDE-NEXT: #if defined(__AVX512BW__)
// PRELUDE-NEXT:   const uint64_t mask = ~UINT64_C(0) >> (64 - bytes);
// PRELUDE-NEXT: #if defined(__clang__)
// PRELUDE-NEXT:   _mm512_mask_storeu_epi8(target, mask, _mm512_loadu_si512(vector));
// PRELUDE-NEXT: #else
// PRELUDE:        __builtin_ia32_storedquqi512_mask(target, *(const loose *)vector, mask);
// PRELUDE-NEXT: #endif
// PRELUDE-NEXT: #else
// PRELUDE-NEXT:   char *to = target;
// PRELUDE-NEXT:   const char *from = vector; {{.*}}
// PRELUDE-NEXT:   if (bytes >= 32)
// PRELUDE-NEXT:     memcpy(to, from, 32), memcpy(to + bytes - 32, from + bytes - 32, 32);
// PRELUDE-NEXT:   else if (bytes >= 16)
// PRELUDE-NEXT:     memcpy(to, from, 16), memcpy(to + bytes - 16, from + bytes - 16, 16);
// PRELUDE-NEXT:   else if (bytes >= 8)
// PRELUDE-NEXT:     memcpy(to, from, 8), memcpy(to + bytes - 8, from + bytes - 8, 8);
// PRELUDE-NEXT:   else if (bytes >= 4)
// PRELUDE-NEXT:     memcpy(to, from, 4), memcpy(to + bytes - 4, from + bytes - 4, 4);
// PRELUDE-NEXT:   else
// PRELUDE-NEXT:     to[0] = from[0], to[bytes / 2] = from[bytes / 2], to[bytes - 1] = from[bytes - 1];

// CHECK-LABEL: void part(
// CHECK:         const int64_t mask = count > 0 ? (count < 16 ? count : 16) : 0;
// CHECK-NEXT:    LAYOUT_STORE_PART(&destination[0], &line, mask * sizeof(float));
// CHECK-NEXT:    __builtin_prefetch(&destination[0] + 32, 1);
// CHECK-NEXT:    LAYOUT_STORE_PART(&destination[0], &line, mask * sizeof(float));
func.func @part(%source : memref<64xf32>, %destination : memref<64xf32>, %count : index) {
  %c0 = arith.constant 0 : index
  %line = vector.load %source[%c0] : memref<64xf32>, vector<16xf32>
  %mask = vector.create_mask %count : vector<16xi1>
  vector.maskedstore %destination[%c0], %mask, %line : memref<64xf32>, vector<16xi1>, vector<16xf32>
  vector.maskedstore %destination[%c0], %mask, %line {prefetch = 32 : index} : memref<64xf32>, vector<16xi1>, vector<16xf32>
  return
}

// a line of which nothing else is made is stored from where it lies
// CHECK-LABEL: void part_of_buffer(
// CHECK-NOT:     line
// CHECK:         LAYOUT_STORE_PART(&destination[0], &*(const f32x16_unaligned *)&source[count], mask * sizeof(float));
func.func @part_of_buffer(%source : memref<64xf32>, %destination : memref<64xf32>, %count : index) {
  %c0 = arith.constant 0 : index
  %line = vector.load %source[%count] : memref<64xf32>, vector<16xf32>
  %mask = vector.create_mask %count : vector<16xi1>
  vector.maskedstore %destination[%c0], %mask, %line : memref<64xf32>, vector<16xi1>, vector<16xf32>
  return
}

// but not within one buffer, where parts of it may be written before all are read
// CHECK-LABEL: void part_within_buffer(
// CHECK:         const f32x16 line = *(const f32x16_unaligned *)&source[0];
// CHECK:         LAYOUT_STORE_PART(&source[8], &line, mask * sizeof(float));
func.func @part_within_buffer(%source : memref<64xf32>, %count : index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %line = vector.load %source[%c0] : memref<64xf32>, vector<16xf32>
  %mask = vector.create_mask %count : vector<16xi1>
  vector.maskedstore %source[%c8], %mask, %line : memref<64xf32>, vector<16xi1>, vector<16xf32>
  return
}

// vectors of other sizes, and masks that are known, go on as before
// CHECK-LABEL: void short_part(
// CHECK:         memcpy(&destination[0], &line, mask * sizeof(float));
func.func @short_part(%source : memref<64xf32>, %destination : memref<64xf32>, %count : index) {
  %c0 = arith.constant 0 : index
  %line = vector.load %source[%c0] : memref<64xf32>, vector<8xf32>
  %mask = vector.create_mask %count : vector<8xi1>
  vector.maskedstore %destination[%c0], %mask, %line : memref<64xf32>, vector<8xi1>, vector<8xf32>
  return
}
