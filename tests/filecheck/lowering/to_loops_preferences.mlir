// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0}" | filecheck %s
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 block-tiles=1 prefetch=source prefetch-tiles=4}" | filecheck %s --check-prefix SOURCE
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 block-tiles=4 prefetch=destination prefetch-tiles=1}" | filecheck %s --check-prefix DESTINATION
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 prefetch=none}" | filecheck %s --check-prefix NONE
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 stream-bytes=0 streams=false}" | filecheck %s --check-prefix ORDINARY
// RUN: layout-opt %s -p "layout-to-loops{vector-bytes=64 streams=true}" | filecheck %s --check-prefix STREAMS
// RUN: layout-opt %s -p "layout-lower{vector-bytes=64 block-tiles=1 prefetch=source prefetch-tiles=1}" | filecheck %s --check-prefix ALL
// RUN: not layout-opt %s -p "layout-to-loops{block-tiles=0}" 2>&1 | filecheck %s --check-prefix NO-TILES
// RUN: not layout-opt %s -p "layout-to-loops{prefetch=sources}" 2>&1 | filecheck %s --check-prefix NO-SUCH
// RUN: not layout-opt %s -p "layout-to-loops{prefetch=none prefetch-tiles=2}" 2>&1 | filecheck %s --check-prefix BOTH
// RUN: not layout-opt %s -p "layout-to-loops{vector-bytes=32 streams=true}" 2>&1 | filecheck %s --check-prefix WIDTH

!rows = memref<128x256xf32>
!columns = memref<128x256xf32, #layout.format<"CN">>

// the cost model: blocks of two by two tiles, the rows two tiles further on are asked for, whole lines streamed
// CHECK-LABEL:     func.func @transpose(
// CHECK-DAG:         %[[BLOCK:.*]] = arith.constant 32 : index
// CHECK-COUNT-4:     scf.for
// CHECK:             vector.load %{{.*}} {prefetch = 8192 : index}
// CHECK:             vector.store %{{.*}} {nontemporal = true}

// no blocks, and the same rows four tiles ahead
// SOURCE-LABEL:    func.func @transpose(
// SOURCE-COUNT-2:    scf.for
// SOURCE-NOT:        scf.for
// SOURCE:            vector.load %{{.*}} {prefetch = 64 : index}

// blocks of four by four tiles, and the rows one tile further on
// DESTINATION-LABEL: func.func @transpose(
// DESTINATION-DAG:   arith.constant 64 : index
// DESTINATION-COUNT-4: scf.for
// DESTINATION:       vector.load %{{.*}} {prefetch = 4096 : index}

// NONE-LABEL:      func.func @transpose(
// NONE-NOT:          prefetch
// NONE:              nontemporal

// ORDINARY-LABEL:  func.func @transpose(
// ORDINARY-NOT:      nontemporal
// ORDINARY:          func.return

// STREAMS-LABEL:   func.func @transpose(
// STREAMS:           nontemporal

// ALL-LABEL:       func.func @transpose(
// ALL-COUNT-2:       scf.for
// ALL-NOT:           scf.for
// ALL:               vector.load %{{.*}} {prefetch = 16 : index}

// NO-TILES: layout-to-loops: expected block-tiles to be at least 1, got 0
// NO-SUCH:  layout-to-loops: expected prefetch to be one of none, source, destination, got sources; did you mean source?
// BOTH:     layout-to-loops: expected no prefetch-tiles with prefetch=none
// WIDTH:    layout-to-loops: expected streams with vector-bytes=64 alone, got 32
func.func @transpose(%x: !rows, %y: !columns) {
  layout.copy %x, %y : !rows to !columns
  func.return
}
