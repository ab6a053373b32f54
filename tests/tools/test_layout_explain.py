"""`layout-explain`: its answers, and one message instead of a traceback."""

from __future__ import annotations

import pytest

from layout_ir.tools.layout_explain import main


def test_it_explains(capsys: pytest.CaptureFixture[str]):
    assert main(["NHWC", "--shape", "1,2,3,4", "--dtype", "i8", "--element", "0,1,2,3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("NHWC of n=1 c=2 h=3 w=4, i8\n")
    assert "n=0 c=1 h=2 w=3 lies at (0, 2, 3, 1): 0*24 + 2*8 + 3*2 + 1*1 = 23" in text
    assert "openvino:byxf (b,f,y,x)" in text


def test_options_of_the_name_are_passed_on(capsys: pytest.CaptureFixture[str]):
    shape = ["--shape", "3,3,5,6", "--dtype", "f16"]
    assert main(["ascend:FRACTAL_Z", *shape, "--dims", "HWCN", "--groups", "2", "--c0", "8"]) == 0
    assert "ascend:FRACTAL_Z of h=3 w=3 c=5 n=6, f16" in capsys.readouterr().out
    assert main(["ascend:ND_RNN_BIAS", "--shape", "80", "--hidden-size", "40"]) == 0
    assert main(["ascend:FRACTAL_ZN_RNN", "--shape", "47,80", "--hidden-size", "40", "--input-size", "7"]) == 0
    assert main(["cudnn:strided", "--shape", "2,3", "--strides", "8,1", "--offset", "2"]) == 0
    assert "from offset 2" in capsys.readouterr().out


def test_it_translates(capsys: pytest.CaptureFixture[str]):
    assert main(["onednn:nChw16c", "--to", "openvino"]) == 0
    assert main(["openvino:os_i_yxs_osv4_yxsv4", "--to", "onednn", "--shape", "4,3,2,2"]) == 0
    assert capsys.readouterr().out.split() == ["openvino:b_fs_yx_fsv16", "onednn:iohw"]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (["onednn:nChw16c"], "expected --shape (extents of the tensor), or --to (a system)"),
        (
            ["onednn:nChw16", "--shape", "1,2,3,4"],
            "oneDNN tag 'nChw16': expected the dim of the block 16 at position 6",
        ),
        (["NCHW", "--shape", "1,2,3"], "NCHW: expected a shape of rank 4 (N, C, H, W), got rank 3"),
        (["NCHW", "--shape", "1,2,3,-4"], "expected sizes that are known and not negative"),
        (["NCHW", "--shape", "1,2,3,4", "--dtype", "f33"], "unknown element type 'f33'"),
        (["NCHW", "--shape", "1,2,3,4", "--element", "0,0,0,4"], "element of NCHW: expected an index inside"),
        (["NCHW", "--to", "openvino", "--element", "0,0,0,0"], "expected --element without --to"),
        (
            ["onednn:tnc", "--to", "openvino"],
            "onednn:tnc has no name in openvino: openvino has no format over the dims",
        ),
        (["NCHW", "--shape", "1,2,3,4", "--groups", "2"], "'groups'"),
        (["ascend:FRACTAL_Z", "--shape", "1,2,3,4", "--groups", "-2"], "expected groups to be positive, got -2"),
    ],
)
def test_mistakes_are_one_message(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("layout-explain: ")
    assert expected in captured.err
    assert captured.err.count("\n") == 1


def test_numbers_that_are_none_are_refused_with_the_usage(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["NCHW", "--shape", "1,two"])
    assert "argument --shape: expected whole numbers with commas, got '1,two'" in capsys.readouterr().err
