// RUN: layout-opt %s -p 'layout-lower-device{work-group=16}' | filecheck %s
// RUN: layout-opt %s -p 'layout-resolve,layout-to-buffers,layout-to-loops{device=true}' | filecheck %s --check-prefix=LOOPS

// The same loops as on the host, all of them parallel; the pad of a block is a choice between two values.

// LOOPS-LABEL: func.func @pack
// LOOPS:         "scf.parallel"
// LOOPS:           "scf.parallel"
// LOOPS:             %{{.*}} = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// LOOPS:             arith.select

// Inner loops become work items, outer loops groups; the digits of x that a division would take apart join again.

// CHECK:       builtin.module attributes {gpu.container_module}
// CHECK-LABEL: func.func @pack
// CHECK:         "gpu.launch_func"(%[[GROUPS:.*]], %[[TWO:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %x, %y) <{kernel = @kernels::@pack_0
// CHECK-NEXT:    func.return
// CHECK:       "gpu.module"() <{sym_name = "kernels"}>
// CHECK:         "gpu.func"() <{function_type = (memref<192xf32>, memref<256xf32>) -> (), kernel}>
// CHECK:           %x_1 = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
// CHECK-NEXT:      %group_y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
// CHECK:           memref.store %{{.*}}, %y[%{{.*}}] : memref<256xf32>
// CHECK-NEXT:      "gpu.return"() : () -> ()
// CHECK-NEXT:    }) {sym_name = "pack_0", gpu.known_block_size = array<i32: 16, 1, 1>
func.func @pack(%x: tensor<2x3x4x8xf32, #layout.format<"NCHW">>)
    -> tensor<2x3x4x8xf32, #layout.format<"onednn:nChw4c">> {
  %y = layout.reorder %x : tensor<2x3x4x8xf32, #layout.format<"NCHW">>
    to tensor<2x3x4x8xf32, #layout.format<"onednn:nChw4c">>
  func.return %y : tensor<2x3x4x8xf32, #layout.format<"onednn:nChw4c">>
}
