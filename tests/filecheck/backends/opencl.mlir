// RUN: layout-opt %s -t opencl | filecheck %s
// RUN: layout-opt %s -t 'opencl{images=true}' | filecheck %s --check-prefix=IMAGE

// CHECK:      /* to_image(x, y) runs, one after the other:
// CHECK-NEXT:  *   to_image_0(x, y) in 3136 groups of 64 work items */
// CHECK:      __kernel __attribute__((reqd_work_group_size(64, 1, 1)))
// CHECK-NEXT: void to_image_0(__global const ushort *restrict x, __global ushort *restrict y) {
// CHECK-NEXT:   const int x_1 = (int)get_global_id(0);

// IMAGE:      void to_image_0(__global const ushort *restrict x, __write_only image2d_t y) {
// IMAGE-NEXT:   const int x_1 = (int)get_global_id(0);
// IMAGE-NEXT:   const int group_y = (int)get_group_id(1);
// IMAGE-NEXT:   const ushort v = x[224 * group_y + x_1];
// IMAGE-NEXT:   const ushort v_1 = x[224 * group_y + x_1 + 50176];
// IMAGE-NEXT:   const ushort v_2 = x[224 * group_y + x_1 + 100352];
// IMAGE-NEXT:   write_imageui(y, (int2)(x_1, group_y), (uint4)(v, v_1, v_2, 0));
// IMAGE-NEXT: }
func.func @to_image(%x: tensor<1x3x224x224xf16, #layout.format<"NCHW">>)
    -> tensor<1x3x224x224xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">> {
  %y = layout.reorder %x : tensor<1x3x224x224xf16, #layout.format<"NCHW">>
    to tensor<1x3x224x224xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>
  func.return %y : tensor<1x3x224x224xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>
}

// IMAGE:      void from_image_0(__read_only image2d_t x, __global ushort *restrict y) {
// IMAGE:        const ushort4 v = convert_ushort4(read_imageui(x, (int2)(x_1, group_y)));
func.func @from_image(%x: tensor<1x3x224x224xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>)
    -> tensor<1x3x224x224xf16, #layout.format<"NCHW">> {
  %y = layout.reorder %x : tensor<1x3x224x224xf16, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>
    to tensor<1x3x224x224xf16, #layout.format<"NCHW">>
  func.return %y : tensor<1x3x224x224xf16, #layout.format<"NCHW">>
}
