#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks that need a GPU. Kernels: results against goldens, runs under compute-sanitizer, bandwidth.
# Loader: the cost of stages for a megapixel, placements. Agent: PyTorch runs with pageable and pinned
# copies, kernel-busy compared with torch.profiler's figure, the cost of each level.
#
#   scripts/gpu_check.sh [--only SECTION[,SECTION...]] [--quick] [--pairs N] [--samples] [--out DIR]
#
#   --only     runs these sections instead of all:
#                kernels   goldens, compute-sanitizer, bandwidth
#                loader    device costs, digests, nvJPEG, placements
#                agent     copies, verdicts, kernel-busy, torch.profiler
#                cost      what each level of the agent costs: some 13 minutes with ten pairs, 8 with six
#              each section makes what it needs, such as the set of pictures
#   --quick    measures costs with three pairs of runs instead of ten; does not run compute-sanitizer
#   --pairs N  measures costs with N pairs of runs; a pair is five runs: one without the agent, and one at
#              each of the four levels
#   --samples  puts small recordings of the agent's runs into traces/samples/gpu/, with their recipe
#   --out DIR  for results and logs (default: build/gpu)
#
# Uses PENSTOCK_PYTHON (default: python3) if it has a PyTorch with CUDA and Pillow. Brings the build in
# build/gpu-release up to date; builds nothing if PENSTOCK_BUILD names a build folder. PENSTOCK_NVJPEG
# names a libnvjpeg that the dynamic linker does not find. All sections together take some half an hour.
# Exit status: 0 no claim has failed (claims that could not be checked are named); 1 one has failed;
# 2 usage; 3 there is no GPU, or the build fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly all_sections=(kernels loader agent cost)
quick=false
samples=false
pairs=
out=build/gpu
only=${all_sections[*]}
usage() {
  [[ $# -eq 0 ]] || echo "gpu_check: $1" >&2
  echo "usage: scripts/gpu_check.sh [--only SECTION[,SECTION...]] [--quick] [--pairs N] [--samples] [--out DIR]" >&2
  echo "sections: ${all_sections[*]}" >&2
  exit 2
}
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=true ;;
    --samples) samples=true ;;
    --only | --pairs | --out)
      [[ $# -gt 1 && -n $2 ]] || usage "$1 needs a value"
      case $1 in
        --only) only=${2//,/ } ;;
        --pairs) pairs=$2 ;;
        --out) out=$2 ;;
      esac
      shift
      ;;
    -h | --help)
      sed -n '4,/^set /{s/^# \{0,1\}//p}' scripts/gpu_check.sh
      exit 0
      ;;
    *) usage "there is no option $1" ;;
  esac
  shift
done
for name in $only; do
  [[ " ${all_sections[*]} " == *" $name "* ]] || usage "there is no section $name"
done
sections=()
for name in "${all_sections[@]}"; do
  [[ " $only " != *" $name "* ]] || sections+=("$name")
done
[[ ${#sections[@]} -gt 0 ]] || usage "--only names no section"
[[ -z $pairs || $pairs =~ ^[1-9][0-9]*$ ]] || usage "--pairs is a whole number from 1 on"
if [[ -z $pairs ]]; then
  pairs=10
  ! "$quick" || pairs=3
fi
! "$samples" || [[ " ${sections[*]} " == *" agent "* ]] || usage "--samples needs the section agent"

if ! command -v nvidia-smi >/dev/null || ! gpus=$(nvidia-smi -L 2>/dev/null) || [[ -z $gpus ]]; then
  echo "gpu_check: no NVIDIA GPU with a driver on this machine: nothing is checked" >&2
  exit 3
fi
echo "$gpus"

mkdir -p "$out"
out=$(cd "$out" && pwd)
readonly python=${PENSTOCK_PYTHON:-python3}
if [[ -n ${PENSTOCK_BUILD:-} ]]; then
  build=$(cd "$PENSTOCK_BUILD" && pwd)
else
  build=$PWD/build/gpu-release
  # Compiles kernels only for the GPU of this machine. Installed programs hold them for other GPUs too.
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
  echo "Building for sm_$capability (log: $out/build.log)"
  began=$SECONDS
  targets=(penstock_programs)
  [[ " ${sections[*]} " != *" kernels "* ]] || targets+=(loader_device_gpu_test cuda_augment_bench)
  if ! { cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPENSTOCK_CUDA=ON \
      -DPENSTOCK_CUDA_ARCHITECTURES="$capability" -DPENSTOCK_GUI=OFF &&
      cmake --build "$build" --target "${targets[@]}"; } >"$out/build.log" 2>&1; then
    tail -n 40 "$out/build.log" >&2
    echo "gpu_check: does not build" >&2
    exit 3
  fi
  echo "        build: $((SECONDS - began)) s"
fi
readonly bin=$build/bin
nvjpeg=()
[[ -z ${PENSTOCK_NVJPEG:-} ]] || nvjpeg=(--nvjpeg "$PENSTOCK_NVJPEG")

failed=0
claim() {  # runs a command that prints its own line
  "$@" || failed=1
}
check() { claim "$python" -B scripts/gpu/check.py "$@"; }
step() {  # $1: what, rest: a command whose output goes into a log
  local what=$1 log=$out/${1// /-}.log
  shift
  if "$@" >"$log" 2>&1; then
    echo "ok      $what"
  else
    tail -n 15 "$log" >&2
    echo "FAILED  $what (log: $log)"
    failed=1
    return 1
  fi
}
note() { echo "note    $1"; }
fail() {
  echo "FAILED  $1"
  failed=1
}

# A GPU that the tests cannot use is a failure here, not a reason to skip.
export PENSTOCK_REQUIRE_GPU=1

set=$out/set
make_set() {  # makes a complete set or none; $1: folder, $2: what needs it, rest: arguments of make-set
  local folder=$1 what=$2
  shift 2
  [[ ! -d $folder ]] || return 0
  rm -rf "$folder.part"
  if ! "$bin/penstock-load" make-set "$@" "$folder.part" >"$folder.log" 2>&1 ||
      ! mv "$folder.part" "$folder"; then
    tail -n 15 "$folder.log" >&2
    fail "pictures to load (log: $folder.log): $what is not checked"
    return 1
  fi
}
pictures() { make_set "$set" "$1" --count 600; }
train=("$python" -B scripts/gpu/train.py --data "$set")
torch() {
  "$python" -c 'import torch, PIL; assert torch.cuda.is_available()' >"$out/torch.log" 2>&1 && return 0
  note "$python has no PyTorch with CUDA and Pillow (PENSTOCK_PYTHON): $1 is not checked"
  return 1
}

# True if this machine does not let compute-sanitizer use the driver's interface for debuggers.
sanitizer_refused() {
  ! "$sanitizer" --tool memcheck --error-exitcode 1 "$build/tests/loader_device_gpu_test" \
    --gtest_filter='GpuTest.MarksAreInOrder*' >"$out/compute-sanitizer.log" 2>&1 &&
    grep -Eqi 'not supported|unable to (start|attach|initialize)|permission' "$out/compute-sanitizer.log"
}
section_kernels() {
  local sanitizer tool
  step "kernels against goldens" "$build/tests/loader_device_gpu_test" || true
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
  if "$quick"; then
    note "compute-sanitizer: not with --quick"
  elif [[ -z $sanitizer ]]; then
    note "compute-sanitizer is not installed: not checked"
  elif sanitizer_refused; then
    note "compute-sanitizer: $(grep -Ei 'not supported|unable|permission' "$out/compute-sanitizer.log" | head -n 1)"
  else
    for tool in memcheck racecheck initcheck synccheck; do  # only our kernels, not nvJPEG's
      step "compute-sanitizer $tool" "$sanitizer" --tool "$tool" --error-exitcode 1 \
        "$build/tests/loader_device_gpu_test" --gtest_filter='-*Nvjpeg*' || true
    done
  fi
  if step "bandwidth of the kernels" "$bin/cuda_augment_bench" \
      --benchmark_out="$out/kernels.json" --benchmark_out_format=json; then
    check bandwidth "$out/kernels.json"
  fi
}

section_loader() {
  pictures loader || return 0
  local load gpu decoder status from
  step "device costs" "$bin/penstock-sweep" --device-costs "$out/device-costs.txt" "$set" \
    ${PENSTOCK_NVJPEG:+--set "nvjpeg=$PENSTOCK_NVJPEG"} && sed 's/^/        /' "$out/device-costs.txt"
  load=("$bin/penstock-load" "$set" --batch 64 --json --digest --ops "center_crop=224,flip,vflip" --output u8)
  if step "loader on the CPU" "${load[@]}"; then
    cp "$out/loader-on-the-CPU.log" "$out/load-cpu.json"
    for gpu in none augment; do
      if step "loader with --gpu $gpu" "${load[@]}" --gpu "$gpu"; then
        check digests "--gpu $gpu" "$out/load-cpu.json" "$out/loader-with---gpu-$gpu.log"
      fi
    done
  fi
  torch "penstock.Loader" && step "penstock.Loader with device=cuda" env PENSTOCK_BUILD="$build" \
    PYTHONPATH="$PWD/python" "$python" -B scripts/gpu/python_loader.py "$set" || true
  # nvJPEG's gpu-hybrid decodes the Huffman codes on the GPU only for pictures of a megapixel and more.
  local large=$out/large
  make_set "$large" "nvJPEG, gpu-hybrid" --kind fullhd --count 120 || true
  for decoder in hardware gpu-hybrid hybrid; do
    status=0
    from=$set
    [[ $decoder != gpu-hybrid || ! -d $large ]] || from=$large
    "$bin/penstock-load" "$from" --epochs 3 --gpu decode,augment --gpu-decoder "$decoder" --json \
      "${nvjpeg[@]}" >"$out/nvjpeg-$decoder.json" 2>"$out/nvjpeg-$decoder.log" || status=$?
    check decoded --status "$status" "$decoder" "$out/nvjpeg-$decoder.json" "$out/nvjpeg-$decoder.log"
  done
  if step "placements" "$bin/penstock-sweep" "$set" --gpu off,none,augment,decode+augment --set epochs=5 \
    ${PENSTOCK_NVJPEG:+--set "nvjpeg=$PENSTOCK_NVJPEG"} --json "$out/placements.json"; then
    sed 's/^/        /' "$out/placements.log"
    check placements "$out/placements.json"
  fi
}

# Records a training run, and writes its report and its export. $1: name, $2: level, rest: arguments of train.py
record() {
  local name=$1 level=$2
  shift 2
  step "recording of $name" "$bin/penstock" record --force --gpu "$level" -o "$out/$name.penstock" -- \
    "${train[@]}" "$@" || return 1
  if ! "$bin/penstock" report "$out/$name.penstock" --json >"$out/$name.report.json" 2>"$out/$name.log" ||
      ! "$bin/penstock" export "$out/$name.penstock" --to jsonl -o "$out/$name.jsonl" 2>>"$out/$name.log"; then
    tail -n 15 "$out/$name.log" >&2
    fail "report and export of $name (log: $out/$name.log)"
    return 1
  fi
}
make_samples() {
  local folder=traces/samples/gpu kind extra size
  mkdir -p "$folder"
  for kind in pageable pinned; do
    extra=()
    [[ $kind == pageable ]] || extra=(--pin)
    step "sample $kind" "$bin/penstock" record --force --gpu cupti --batches 12 -o "$folder/$kind.penstock" -- \
      "${train[@]}" "${extra[@]}" --batch 16 --batches 14 --warmup 2 --size 64 --width 8 --depth 2 || continue
    size=$(stat -c %s "$folder/$kind.penstock")
    [[ $size -le 262144 ]] || note "$folder/$kind.penstock has $size bytes: too much to keep"
  done
  {
    echo "# Recordings of a training run on a GPU"
    echo
    echo "Made by \`scripts/gpu_check.sh --samples\` on $(nvidia-smi --query-gpu=name,driver_version \
      --format=csv,noheader | head -n 1), $("$python" -c 'import torch; print("PyTorch", torch.__version__)')," \
      "$(date -u +%Y-%m-%d): \`penstock record --gpu cupti --batches 12 -- scripts/gpu/train.py --batch 16" \
      "--batches 14 --warmup 2 --size 64 --width 8 --depth 2\`, pinned with \`--pin\`."
  } >"$folder/README.md"
}

section_agent() {
  torch "the agent" && pictures "the agent" || return 0
  local half
  record pageable cupti && check copies "$out/pageable.jsonl" pageable
  record pinned cupti --pin && check copies "$out/pinned.jsonl" pinned
  record input-bound cupti --pin --workers 1 --width 8 --depth 1 &&
    check verdict "input-bound" "$out/input-bound.report.json" read,decode,augment,collate,transfer,prefetch
  record compute-bound cupti --pin --cached --workers 4 --width 96 --depth 16 &&
    check verdict "compute-bound" "$out/compute-bound.report.json" compute,none
  # The same command runs twice, under the agent and under torch.profiler, since only one tool can use
  # CUPTI. The GPU is busy about half of the time: if it were busy nearly always, errors in counting would
  # not show.
  half=(--pin --cached --workers 4 --width 96 --depth 16 --half-busy)
  if ! record half-busy cupti "${half[@]}"; then
    note "kernel-busy: no recording to compare with torch.profiler"
  elif "${train[@]}" "${half[@]}" --profile >"$out/profiled.json" 2>"$out/profiled.log"; then
    check busy "$out/half-busy.jsonl" "$out/profiled.json"
  else
    note "torch.profiler: $(tail -n 1 "$out/profiled.log")"
  fi
  record profiler-present cupti --pin --profile && note "the agent beside torch.profiler: both end well"
  record profiler-yield yield --pin --profile && note "--gpu yield beside torch.profiler: both end well"
  ! "$samples" || make_samples
}

section_cost() {
  torch "what the agent costs" && pictures "what the agent costs" || return 0
  check cost --pairs "$pairs" "$bin/penstock" "$out/cost.penstock" -- "${train[@]}" --pin
  # If kernels take only microseconds, recording one takes a large part of that time. So this cost is shown,
  # and not compared with a limit.
  check cost --pairs 3 --levels calls,cupti --of "a run of small kernels" --note "$bin/penstock" \
    "$out/cost.penstock" -- "${train[@]}" --pin --cached --batch 8 --batches 400 --width 8 --depth 16
}

for section in "${sections[@]}"; do
  echo
  echo "${section^}"
  began=$SECONDS
  "section_$section"
  echo "        $section: $((SECONDS - began)) s"
done

echo
ran=${sections[*]}
if [[ $failed -ne 0 ]]; then
  echo "FAILED, of ${ran// /, }: results and logs are in $out"
  exit 1
fi
echo "${ran// /, }: all claims that could be checked hold; results are in $out"
