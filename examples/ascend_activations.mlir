// The photograph as Ascend's cube unit reads activations: channels in blocks of C0 (16 of f32), the
// block innermost; 13 of the 16 are zeros here.
func.func @to_nc1hwc0(%x: tensor<1x3x224x224xf32, #layout.format<"NCHW">>)
    -> tensor<1x3x224x224xf32, #layout.format<"ascend:NC1HWC0">> {
  %y = layout.reorder %x
    : tensor<1x3x224x224xf32, #layout.format<"NCHW">>
    to tensor<1x3x224x224xf32, #layout.format<"ascend:NC1HWC0">>
  func.return %y : tensor<1x3x224x224xf32, #layout.format<"ascend:NC1HWC0">>
}
