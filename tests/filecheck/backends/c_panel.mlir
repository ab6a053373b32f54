// RUN: layout-opt %s -t c | filecheck %s

// a buffer on the stack, on a cache line as vectors expect it, and an address as a number
func.func @through_the_stack(%source : memref<64xf32>, %destination : memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %panel = memref.alloca() : memref<64xf32>
  %wide = memref.alloca() {alignment = 128 : i64} : memref<4xi8>
  %byte = arith.constant 7 : i8
  memref.store %byte, %wide[%c0] : memref<4xi8>
  %never = memref.alloca() : memref<8xf32>
  %address = "memref.extract_aligned_pointer_as_index"(%destination) : (memref<64xf32>) -> index
  %first = affine.apply affine_map<(d0) -> ((d0 floordiv 4) mod 16)>(%address)
  scf.for %i = %first to %c64 step %c1 {
    %value = memref.load %source[%i] : memref<64xf32>
    memref.store %value, %panel[%i] : memref<64xf32>
    %again = memref.load %panel[%i] : memref<64xf32>
    memref.store %again, %destination[%i] : memref<64xf32>
  }
  return
}

// CHECK: void through_the_stack(const float *restrict source, float *restrict destination) {
// CHECK-NEXT:   _Alignas(64) float panel[64];
// CHECK-NEXT:   _Alignas(128) int8_t wide[4];
// CHECK-NEXT:   wide[0] = 7;
// CHECK-NEXT:   for (int64_t i = (int64_t)(uintptr_t)destination / 4 % 16; i < 64; i++) {
// CHECK-NEXT:     panel[i] = source[i];
// CHECK-NEXT:     destination[i] = panel[i];
// CHECK-NEXT:   }
// CHECK-NEXT: }

// what is asked for: soon needed, needed much later and twice, about to be written
func.func @ahead(%source : memref<640xf32>, %destination : memref<640xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %near = vector.load %source[%c0] {prefetch = 64 : index} : memref<640xf32>, vector<16xf32>
  %far = vector.load %source[%c32] {prefetch = 512 : index, locality = 2 : index, times = 2 : index} : memref<640xf32>, vector<16xf32>
  vector.store %near, %destination[%c32] {prefetch = 128 : index} : memref<640xf32>, vector<16xf32>
  vector.store %far, %destination[%c0] {prefetch = 192 : index, locality = 2 : index} : memref<640xf32>, vector<16xf32>
  vector.store %far, %destination[%c0] {prefetch = 200 : index, locality = 3 : index, both_lines} : memref<640xf32>, vector<16xf32>
  %only = vector.load %source[%c0] {prefetch = 256 : index, locality = 2 : index} : memref<640xf32>, vector<1xf32>
  return
}

// CHECK: void ahead(
// CHECK:   __builtin_prefetch(&source[0] + 64);
// CHECK:   __builtin_prefetch(&source[32] + 512, 0, 2);
// CHECK-NEXT:   __builtin_prefetch(&source[32] + 512, 0, 2);
// CHECK-NOT:    &source[32] + 512
// CHECK:   __builtin_prefetch(&destination[32] + 128, 1);
// much later, into a cache that does not keep lines to be written apart
// CHECK:   __builtin_prefetch(&destination[0] + 192, 0, 2);
// as if to read them: the lines of the first element and of the last
// CHECK:   __builtin_prefetch(&destination[0] + 200, 0, 3);
// CHECK-NEXT:   __builtin_prefetch(&destination[0] + 215, 0, 3);
// a load whose value nobody uses still asks, and does no more
// CHECK:   __builtin_prefetch(&source[0] + 256, 0, 2);
// CHECK-NEXT: }
