// SPDX-License-Identifier: Apache-2.0
//
// Findings about the GPU and the loop that feeds it: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kPaysWhile{
    "move-to-gpu.pays",
    " It pays off while the GPU needs less than {break_even_s:ms.2} ms a sample for it; "
    "[device?the prediction assumes {device_s:ms.3} ms on {device:text}.|the prediction leaves "
    "that time out.]",
    "只要 GPU 处理每个样本的时间少于 {break_even_s:ms.2} 毫秒就值得；[device?预测按 {device:text} "
    "上 {device_s:ms.3} 毫秒计。|预测未计入这部分时间。]"};

inline constexpr Message kMoveDecode{
    "move-decode-to-gpu.seen",
    "decoding fills {stage_share:%0} of the workers' time and the cores are full",
    "解码占工作进程 {stage_share:percent} 的时间，且核心已占满。"};
inline constexpr Message kDecodeOnGpu{
    "move-decode-to-gpu.do",
    "Send the compressed bytes and decode there: torchvision.io.decode_jpeg(bytes, device='cuda'), "
    "nvImageCodec or DALI's decoders.image(device='mixed'); some pixels then differ by a few "
    "levels from the CPU's decoder, so decode for validation there too.[{pays:words}]",
    "在 GPU 上解码；部分像素与 CPU 解码相差几级，验证时也请在 GPU 上解码。"};

inline constexpr Message kMoveAugment{
    "move-augment-to-gpu.seen",
    "transforms fill {stage_share:%0} of the workers' time and the cores are full",
    "增强占工作进程 {stage_share:percent} 的时间，且核心已占满。"};
inline constexpr Message kAugmentOnGpu{
    "move-augment-to-gpu.do",
    "Collate what the decoder gives and transform the batch on the device: "
    "torchvision.transforms.v2 on CUDA tensors, or Kornia[; start with {dearest:text}, which costs "
    "most]. Random numbers and resizing filters then differ, and torchvision draws one random "
    "number for the whole batch instead of one for each sample (Kornia keeps one for "
    "each).[{pays:words}]",
    "在 GPU 上进行增强；随机数和缩放滤波会不同，torchvision 对整个批次只取一次随机数（Kornia "
    "仍逐样本）。"};

inline constexpr Message kPageableCopies{
    "pageable-copies.seen", "copies from pageable memory take {copy_share:%0} of the loop",
    "从可分页内存拷贝占循环 {copy_share:percent} 的时间。"};
inline constexpr Message kPinMemory{
    "pageable-copies.do",
    "Set pin_memory=True and copy with .to(device, non_blocking=True). Pinned batches cannot be "
    "swapped out. [bounded?The prediction ranges from copies at 80 % of the link's speed to copies "
    "that nothing waits for.|The prediction assumes copies that the loop does not wait for.]",
    "设置 pin_memory=True。"};

inline constexpr Message kCopiesNotOverlapped{
    "copies-not-overlapped.seen",
    "the GPU only copies during {open_share:%0} of the time; {hidden_fraction:%0} of the copying "
    "overlaps with kernels",
    "GPU 有 {open_share:percent} 的时间只在拷贝，仅 {hidden_fraction:percent} 的拷贝与计算重叠。"};
inline constexpr Message kOverlapCopies{
    "copies-not-overlapped.do",
    "Copy the next batch on a side stream while the current one is computed: pin_memory=True, "
    ".to(device, non_blocking=True) under torch.cuda.stream(side), and wait_stream before use. It "
    "costs the device memory of one more batch.",
    "使用 non_blocking=True 和独立的流。"};

inline constexpr Message kComputeBound{
    "compute-bound.seen",
    "the loop waits for data only {wait_fraction:%1} of the time[, and kernels run "
    "{kernel_share:%0} of it]",
    "循环只有 {wait_fraction:percent} 的时间在等待数据[，GPU 有 {kernel_share:percent} 的时间在计"
    "算]。"};
inline constexpr Message kLeaveDataPath{
    "compute-bound.do", "Leave the data path alone: faster data would not make this run faster.",
    "数据不是瓶颈，应优化训练步。"};

inline constexpr Message kKernelLaunchBound{
    "kernel-launch-bound.seen",
    "the GPU is idle {idle_share:%0} of the time although batches are ready",
    "批次已就绪，GPU 仍有 {idle_share:percent} 的时间空闲。"};
inline constexpr Message kLaunchLess{
    "kernel-launch-bound.do",
    "[sync?Wait for the device less often: no .item(), no .cpu() and no printing of losses inside "
    "the step; log every hundred steps. The prediction assumes a step without idle time.|Launch "
    "less: torch.compile(mode='reduce-overhead') or CUDA graphs, larger batches, no .item() and no "
    "printing of losses inside the step (larger batches change the training). The prediction "
    "assumes a step without idle time.]",
    "合并小的 GPU 内核，例如使用 CUDA Graphs。"};

inline constexpr Message kTrainerStarved{
    "trainer-starved.seen",
    "the GPU is idle {idle_share:%0} of the time although batches are ready, and the cores are "
    "full",
    "批次已就绪而核心占满，GPU 有 {idle_share:percent} 的时间空闲。"};
inline constexpr Message kCoreForTrainer{
    "trainer-starved.do",
    "[crowded?Other programs use the cores: give this run cores of its own (taskset, a cgroup, a "
    "node of its own), or record again when the machine is quiet.|[launching?Leave the thread that "
    "launches kernels a core of its own: fewer threads in this process (torch.set_num_threads, "
    "OMP_NUM_THREADS).|Leave the training process a core of its own: "
    "[fewer?num_workers={fewer:count}[nice?, or os.nice(10) in worker_init_fn]|[nice?os.nice(10) "
    "in worker_init_fn|more cores, or less work for the threads that make samples]].]] The "
    "prediction is an upper bound: a step without idle time.",
    "为训练进程留出核心：减少工作进程，或降低其优先级。"};

inline constexpr Message kPreprocessingOnBusyGpu{
    "preprocessing-on-busy-gpu.seen",
    "the GPU is busy {kernel_share:%0} of the time, {preparing_share:%0} of that preparing "
    "pictures, while {cpu_saturation:%0} of the cores are in use",
    "GPU 有 {kernel_share:percent} 的时间忙碌，其中 {preparing_share:percent} 用于准备图片。"};
inline constexpr Message kPreprocessOnCpu{
    "preprocessing-on-busy-gpu.do",
    "Move decoding or augmentation back to workers on the CPU, the most expensive first, as long "
    "as the loop does not wait for them; some pixels then differ by a few levels. The prediction "
    "is an upper bound: the cores' time for it is not in this recording.",
    "把解码或增强移回 CPU 工作进程。"};

inline constexpr Message kPinThreadBehind{
    "pin-thread-behind.seen",
    "{ready_share_of_wait:%0} of the wait is for batches that are ready: the pin thread gets the "
    "interpreter late",
    "等待时间的 {ready_share_of_wait:percent} 中，批次其实已经就绪。"};
inline constexpr Message kRelievePinThread{
    "pin-thread-behind.do",
    "Give the interpreter fewer things to do beside the pin thread: fewer and larger tensors in a "
    "batch, less Python in the step (logging, metrics, progress bars), or pin in the collate "
    "function. The prediction assumes that the handover costs nothing.",
    "减少训练步中的 Python 工作，或在 collate 中锁页。"};

// Evidence.
inline constexpr Message kCopiesSeen{"copies-not-overlapped.where",
                                     "[on_device?on the device|from the host]",
                                     "[on_device?在设备上|由主机推断]"};
inline constexpr Message kPageableKnown{"pageable-copies.kind",
                                        "[recorded?recorded|the loader does not pin]",
                                        "[recorded?有记录|加载器不锁页]"};

}  // namespace penstock::analyzer::words
