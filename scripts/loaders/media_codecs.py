# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of media_programs.py under `penstock record` and counts the spans in their
traces.

  media_codecs.py --bin DIR --out DIR --python PROGRAM [--torch-python PROGRAM] [--simd-python PROGRAM]
                  [--only NAME]... [--table README]

--torch-python is the Python for PyTorch's libraries, and --simd-python that for Pillow-SIMD, which replaces Pillow.
Without them the Python of --python runs these libraries too.

Exit status: 0 every call was recorded exactly once; 1 one was not; 2 usage.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

import run

HERE = pathlib.Path(__file__).resolve().parent

# Program -> (name of the library, distributions, note for the reader).
ROWS = {
    "simplejpeg": ("simplejpeg", "simplejpeg", ""),
    "pyturbojpeg": ("PyTurboJPEG", "PyTurboJPEG", "1.x, for the libjpeg-turbo 2 of Debian 12"),
    "pyvips": ("pyvips", "pyvips", "computes when pixels are asked for: resizing is then part of `decode`"),
    "imagecodecs": ("imagecodecs", "imagecodecs", "16 picture formats are hooked"),
    "kornia_rs": ("kornia-rs", "kornia_rs", ""),
    "nvimgcodec": ("nvImageCodec, on the CPU", "nvidia-nvimgcodec-cu12", "a batch is one call"),
    "pillow_simd": ("Pillow-SIMD", "pillow-simd", "built from source, which takes a compiler and libjpeg's headers"),
    "soundfile": ("soundfile", "soundfile", ""),
    "librosa": ("librosa", "librosa", "reads through soundfile; resampling is `augment`"),
    "torchaudio": ("torchaudio", "torchaudio torchcodec", ""),
    "pyav": ("PyAV", "av", "open, demux, seek and decode apart, in FFmpeg's libraries"),
    "decord": ("decord", "decord", "decodes in a thread of its own, which is recorded besides"),
    "torchcodec": ("torchcodec", "torchcodec", ""),
    "opencv": ("OpenCV `VideoCapture`", "opencv-python-headless", ""),
    "imageio_ffmpeg": ("imageio-ffmpeg", "imageio-ffmpeg", "decodes in a program of its own: the wait for each frame"),
    "nibabel": ("nibabel", "nibabel", ""),
    "pydicom": ("pydicom", "pydicom", ""),
    "zarr": ("zarr", "zarr", "`decode` is a selection of an array; chunks are read by threads of zarr's"),
    "numcodecs": ("numcodecs", "numcodecs", "on its own, not under zarr"),
    "blosc": ("blosc", "blosc", ""),
    "parquet": ("Parquet", "pyarrow", "tables, row groups, batches; not `pyarrow.dataset`"),
    "safetensors": ("safetensors", "safetensors", "the file is mapped: a tensor is `read` by copying it"),
    "tokenizers": ("Hugging Face tokenizers", "tokenizers", "a batch is one call"),
    "transformers": ("Hugging Face transformers", "transformers", "a call of a tokenizer, fast or slow"),
    "sentencepiece": ("SentencePiece", "sentencepiece", ""),
    "tiktoken": ("tiktoken", "tiktoken", "a batch is one call"),
}


TORCH = ("torchaudio", "torchcodec")


class Counts:
    """The number of spans in a trace for each stage and name, and the sum of each counter's values."""

    def __init__(self, penstock, trace):
        lines = str(trace) + ".jsonl"
        subprocess.run([penstock, "export", str(trace), "--to", "jsonl", "-o", lines], check=True,
                       stdin=subprocess.DEVNULL)
        self.spans, self.counters, self.dropped, self.native = collections.Counter(), collections.Counter(), 0, 0
        with open(lines, encoding="utf-8") as file:
            for record in map(json.loads, file):
                if record["type"] == "span":
                    self.spans[record["stage"], record.get("name", "")] += 1
                    self.native += record.get("name") == "ffmpeg" and record.get("bytes", 0) > 0
                elif record["type"] == "counter":
                    self.counters[record.get("name", "")] += record.get("value", 0)
                elif record["type"] == "process":
                    self.dropped += record.get("dropped", 0)
        os.unlink(lines)


def judge(said, counts):
    """Compares a trace with what its program counted. Returns ([(stage, name, seen, wanted)], errors)."""
    rows, wrong = [], []
    for stage, names in said["spans"].items():
        for name, wanted in names.items():
            seen = counts.spans[stage, name]
            rows.append((stage, name, seen, wanted))
            if seen != wanted:
                wrong.append(f"{stage} {name}: {seen}, want {wanted}")
    if "used" in said:
        used = counts.counters["video.frames_used"]
        handed = max(counts.native, counts.counters["video.frames_decoded"])
        if used != said["used"]:
            wrong.append(f"frames used: {used}, want {said['used']}")
        if handed < max(said["decoded"], said["used"] if counts.native else 0):
            wrong.append(f"frames decoded: {handed}, want {said['decoded']} or more")
        rows.append(("frames", "used", used, said["used"]))
        rows.append(("frames", "decoded", handed, None))
    if counts.dropped:
        wrong.append(f"{counts.dropped} records dropped")
    return rows, wrong


def measure(name, options):
    """Records a program. Returns {"rows", "wrong", "versions"}, or {"missing"} if it cannot run."""
    packages = ROWS[name][1].split()
    python = options.torch_python or options.python if name in TORCH else options.python
    if name == "pillow_simd":
        python = options.simd_python or options.python
    versions = run.versions(python, packages)
    if versions is None:
        return {"missing": "not installed: " + ", ".join(packages)}
    out = pathlib.Path(options.out)
    work, trace = out / "codecs" / name, out / ("codec-" + name + ".penstock")
    shutil.rmtree(work, ignore_errors=True)
    trace.unlink(missing_ok=True)
    penstock = os.path.join(options.bin, "penstock")
    done = run.call([penstock, "record", "--quiet", "-o", str(trace), "--", python,
                     str(HERE / "media_programs.py"), name, str(work)])
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"wrong": [f"status {done.returncode}: {last[:300]}"], "versions": versions}
    rows, wrong = judge(json.loads(done.stdout.splitlines()[-1]), Counts(penstock, trace))
    return {"rows": rows, "wrong": wrong, "versions": versions}


def table(results):
    lines = ["| library | tested with | recorded, of calls made | |", "|---|---|---|---|"]
    for name, (title, _, note) in ROWS.items():
        result = results.get(name, {})
        if "rows" not in result:
            lines.append(f"| {title} | not tested | | {note} |")
            continue
        cells = [f"`{stage}` {seen} of {wanted} ({label})" for stage, label, seen, wanted in result["rows"]
                 if stage != "frames"]
        frames = {label: seen for stage, label, seen, _ in result["rows"] if stage == "frames"}
        if frames:
            cells.append(f"{frames['decoded']} frames decoded, {frames['used']} used")
        lines.append(f"| {title} | {result['versions']} | {'; '.join(cells)} | {note} |")
    return lines


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--torch-python")
    parser.add_argument("--simd-python")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--table")
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "codecs.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    failed = 0
    for name in ROWS:
        if options.only and name not in options.only:
            continue
        results[name] = result = measure(name, options)
        kept.write_text(json.dumps(results, indent=1))
        failed += bool(result.get("wrong"))
        said = "; ".join(f"{stage} {label} {seen}" + (f" of {wanted}" if wanted else "")
                         for stage, label, seen, wanted in result.get("rows", ()))
        print(f"{name:<16} {result.get('missing') or said}", flush=True)
        for line in result.get("wrong", ()):
            print(f"    WRONG {line}", flush=True)
    if options.table:
        run.write_table(options.table, table(results), "codecs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
