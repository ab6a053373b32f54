// The same filters as Ascend's cube unit reads them: fractals of 16 outputs x C0 inputs, stored C1 H W N1 N0 C0.
func.func @to_fractal_z(%w: tensor<24x96x3x3xf32, #layout.format<"OIHW">>)
    -> tensor<24x96x3x3xf32, #layout.format<"ascend:FRACTAL_Z">> {
  %y = layout.reorder %w
    : tensor<24x96x3x3xf32, #layout.format<"OIHW">>
    to tensor<24x96x3x3xf32, #layout.format<"ascend:FRACTAL_Z">>
  func.return %y : tensor<24x96x3x3xf32, #layout.format<"ascend:FRACTAL_Z">>
}
