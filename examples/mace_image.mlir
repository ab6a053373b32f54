// The photograph as MACE's OpenCL kernels read it: an RGBA image of height n*h and width ceil(c/4)*w, here with one
// empty lane a pixel. MACE counts its dims n, h, w, c; `dims` says that this tensor has them in the order n, c, h, w.
func.func @to_image(%x: tensor<1x3x224x224xf32, #layout.format<"NCHW">>)
    -> tensor<1x3x224x224xf32, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">> {
  %y = layout.reorder %x
    : tensor<1x3x224x224xf32, #layout.format<"NCHW">>
    to tensor<1x3x224x224xf32, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>
  func.return %y : tensor<1x3x224x224xf32, #layout.format<"mace:IN_OUT_CHANNEL", dims = "NCHW">>
}
