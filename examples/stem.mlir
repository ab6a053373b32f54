// A photograph as OpenVINO's GPU kernels read activations: channels in blocks of 16, the block innermost; the 13 channels
// that a photograph does not have are zeros.
func.func @pack(%x: tensor<1x3x224x224xf32, #layout.format<"NCHW">>)
    -> tensor<1x3x224x224xf32, #layout.format<"openvino:b_fs_yx_fsv16">> {
  %y = layout.reorder %x
    : tensor<1x3x224x224xf32, #layout.format<"NCHW">>
    to tensor<1x3x224x224xf32, #layout.format<"openvino:b_fs_yx_fsv16">>
  func.return %y : tensor<1x3x224x224xf32, #layout.format<"openvino:b_fs_yx_fsv16">>
}
