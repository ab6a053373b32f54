// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=zen-4}" | filecheck %s --check-prefix ZEN
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=emerald-rapids}" | filecheck %s --check-prefix EMERALD
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 processor=granite-rapids}" | filecheck %s --check-prefix GRANITE
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64}" | filecheck %s --check-prefix CACHED
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 processor=emerald-rapids}" | filecheck %s --check-prefix FOLLOWED

// Rows of 56 elements with a pitch of 120 begin at lines and at half lines in turn. Two of them are a tile; what is
// left over is one more row. Parts of lines bypass the caches where they are all that their line gets: not where the
// destination begins inside of a line.
// CHECK-LABEL:     func.func @rows(
// CHECK:             scf.if
// CHECK:             scf.for
// CHECK-COUNT-3:     vector.store %{{.*}} {at_line, nontemporal = true} : memref<{{.*}}>, vector<16xf32>
// CHECK-COUNT-2:     vector.store %{{.*}} {nontemporal = true} : memref<{{.*}}>, vector<8xf32>
// CHECK-COUNT-3:     vector.store %{{.*}} {at_line, nontemporal = true} : memref<{{.*}}>, vector<16xf32>
// CHECK:             vector.store
// CHECK:             } else {
// CHECK-NOT:         nontemporal
// CHECK:             func.return

// Zen 4 streams whole lines alone, and asks for the others; so it need not look where the destination begins.
// ZEN-LABEL:       func.func @rows(
// ZEN-NOT:           scf.if
// ZEN-COUNT-3:       vector.store %{{.*}} {nontemporal = true} : memref<{{.*}}>, vector<16xf32>
// ZEN-COUNT-2:       vector.store %{{.*}} {prefetch = 1200 : index} : memref<{{.*}}>, vector<8xf32>
// ZEN-COUNT-3:       vector.store %{{.*}} {nontemporal = true} : memref<{{.*}}>, vector<16xf32>
// ZEN-NOT:           nontemporal
// ZEN:               func.return

// Sapphire Rapids does as Zen 4, but Granite Rapids streams these parts.
// EMERALD-LABEL:  func.func @rows(
// EMERALD-NOT:      {nontemporal = true} : memref<{{.*}}>, vector<8xf32>
// EMERALD:          func.return
// GRANITE-LABEL:   func.func @rows(
// GRANITE:           vector.store %{{.*}} {nontemporal = true} : memref<{{.*}}>, vector<8xf32>

// CACHED-LABEL:    func.func @rows(
// CACHED-NOT:        nontemporal
func.func @rows(%source: memref<7x56xf32>, %destination: memref<7x56xf32, strided<[120, 1]>>) {
  layout.copy %source, %destination : memref<7x56xf32> to memref<7x56xf32, strided<[120, 1]>>
  func.return
}

// No row holds a line: the lines of rows further on are asked for, as they have to be read before. On Zen 4 they come
// into the second level cache.
// CHECK-LABEL:     func.func @short_rows(
// CHECK:             vector.store %{{.*}} {prefetch = 1040 : index}
// ZEN-LABEL:       func.func @short_rows(
// ZEN:               vector.store %{{.*}} {prefetch = 1040 : index, locality = 2 : index}
// Sapphire Rapids asks as if to read them, for both lines that a row may lie in.
// EMERALD-LABEL:  func.func @short_rows(
// EMERALD:          vector.store %{{.*}} {prefetch = 1040 : index, locality = 3 : index, both_lines}
// CACHED-LABEL:    func.func @short_rows(
// CACHED-NOT:        prefetch
func.func @short_rows(%source: memref<64x12xf32>, %destination: memref<64x12xf32, strided<[40, 1]>>) {
  layout.copy %source, %destination : memref<64x12xf32> to memref<64x12xf32, strided<[40, 1]>>
  func.return
}

// In the caches, where gaps are as long as rows: on Sapphire Rapids lines of rows further on are asked for to be
// written; both, unless all rows begin at lines.
// CACHED-LABEL:    func.func @gaps_as_long(
// CACHED-NOT:        prefetch
// CACHED:            func.return
// FOLLOWED-LABEL:  func.func @gaps_as_long(
// FOLLOWED-COUNT-4:  vector.store %{{.*}} {prefetch = 256 : index} : memref<{{.*}}>, vector<8xf32>
func.func @gaps_as_long(%source: memref<1024x64xf32>, %destination: memref<1024x64xf32, strided<[128, 1]>>) {
  layout.copy %source, %destination : memref<1024x64xf32> to memref<1024x64xf32, strided<[128, 1]>>
  func.return
}

// FOLLOWED-LABEL:  func.func @inside_of_lines(
// FOLLOWED:          vector.store %{{.*}} {prefetch = 328 : index, both_lines} : memref<{{.*}}>, vector<8xf32>
// FOLLOWED:          func.return
func.func @inside_of_lines(%source: memref<1024x80xf32>, %destination: memref<1024x80xf32, strided<[164, 1]>>) {
  layout.copy %source, %destination : memref<1024x80xf32> to memref<1024x80xf32, strided<[164, 1]>>
  func.return
}
