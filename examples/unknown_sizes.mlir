// A network's activations, whatever the batch and the size of the images: the function takes n, h and w.
func.func @pack(%x: tensor<?x64x?x?xf32, #layout.format<"NCHW">>)
    -> tensor<?x64x?x?xf32, #layout.format<"onednn:nChw16c">> {
  %y = layout.reorder %x
    : tensor<?x64x?x?xf32, #layout.format<"NCHW">>
    to tensor<?x64x?x?xf32, #layout.format<"onednn:nChw16c">>
  func.return %y : tensor<?x64x?x?xf32, #layout.format<"onednn:nChw16c">>
}
