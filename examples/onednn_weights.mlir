// A 3x3 convolution's filters as oneDNN's AVX-512 kernels read them: blocks of 16 inputs x 16 outputs, outputs innermost.
// 24 outputs are one block and a half: the second half of the last block is zeros.
func.func @to_oihw16i16o(%w: tensor<24x96x3x3xf32, #layout.format<"OIHW">>)
    -> tensor<24x96x3x3xf32, #layout.format<"onednn:OIhw16i16o">> {
  %y = layout.reorder %w
    : tensor<24x96x3x3xf32, #layout.format<"OIHW">>
    to tensor<24x96x3x3xf32, #layout.format<"onednn:OIhw16i16o">>
  func.return %y : tensor<24x96x3x3xf32, #layout.format<"onednn:OIhw16i16o">>
}
