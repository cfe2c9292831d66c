// SPDX-License-Identifier: Apache-2.0
//
// Findings about the GPU and the loop that feeds it: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kPaysWhile{
    "move-to-gpu.pays",
    " It pays off while the GPU needs less than {break_even_s:ms.2} ms a sample for it"
    "[predicted?; [device?the prediction assumes {device_s:ms.3} ms on {device:text}|the "
    "prediction leaves that time out]].",
    "只要 GPU 为此在每个样本上花费的时间少于 {break_even_s:ms.2} "
    "ms 就值得[predicted?；[device?预测按 "
    "{device:text} 上 {device_s:ms.3} ms 计|预测未计入这部分时间]]。"};

inline constexpr Message kMoveDecode{
    "move-decode-to-gpu.seen",
    "decoding fills {stage_share:%0} of the workers' time and the cores are full",
    "解码占工作进程 {stage_share:%0} 的时间，且核心已占满。"};
inline constexpr Message kDecodeOnGpu{
    "move-decode-to-gpu.do",
    "Send the compressed bytes and decode there: torchvision.io.decode_jpeg(bytes, device='cuda'), "
    "nvImageCodec or DALI's decoders.image(device='mixed'); some pixels then differ by a few "
    "levels from the CPU's decoder, so decode for validation there too.[{pays:words}]",
    "把压缩数据送到 GPU 并在那里解码：torchvision.io.decode_jpeg(bytes, "
    "device='cuda')、nvImageCodec 或 DALI 的 decoders.image(device='mixed')；部分像素与 CPU "
    "解码器相差几级，因此验证时也请在 GPU 上解码。[{pays:words}]"};

inline constexpr Message kMoveAugment{
    "move-augment-to-gpu.seen",
    "transforms fill {stage_share:%0} of the workers' time and the cores are full",
    "变换占工作进程 {stage_share:%0} 的时间，且核心已占满。"};
inline constexpr Message kAugmentOnGpu{
    "move-augment-to-gpu.do",
    "Collate what the decoder gives and transform the batch on the device: "
    "torchvision.transforms.v2 on CUDA tensors, or Kornia[; start with {dearest:text}, which costs "
    "most]. Random numbers and resizing filters then differ, and torchvision draws one random "
    "number for the whole batch instead of one for each sample (Kornia keeps one for "
    "each).[{pays:words}]",
    "把解码器给出的数据直接合批，再在设备上变换整个批次：对 CUDA 张量使用 "
    "torchvision.transforms.v2，或使用 Kornia[；先从成本最高的 {dearest:text} "
    "开始]。随机数和缩放滤波器会不同，且 torchvision "
    "对整个批次只取一次随机数，而不是每个样本各取一次（Kornia 仍逐样本抽取）。[{pays:words}]"};

inline constexpr Message kPageableCopies{
    "pageable-copies.seen", "copies from pageable memory take {copy_share:%0} of the loop",
    "从可分页内存拷贝占循环 {copy_share:%0} 的时间。"};
inline constexpr Message kPinMemory{
    "pageable-copies.do",
    "[own?Give the loader device=\"cuda\": it then copies from page-locked memory, and the loop "
    "goes on.|Set pin_memory=True and copy with .to(device, non_blocking=True).] Pinned batches "
    "cannot be swapped out.[predicted? [bounded?The prediction ranges from copies at 80 % of the "
    "link's speed to copies that nothing waits for.|The prediction assumes copies that the loop "
    "does not wait for.]]",
    "[own?为加载器设置 device=\"cuda\"，由它从锁页内存拷贝，训练循环不必等待。|"
    "设置 pin_memory=True，并用 .to(device, non_blocking=True) 拷贝。]"
    "锁页的批次不能被换出。[predicted?[bounded?预测区间的一端假设以链路速度的 80 % "
    "拷贝，另一端假设没有任何环节等待拷贝。|预测假设循环不等待拷贝。]]"};

inline constexpr Message kCopiesNotOverlapped{
    "copies-not-overlapped.seen",
    "for {open_share:%0} of the time the GPU does nothing but copy; {hidden_fraction:%0} of the "
    "copying overlaps with kernels",
    "GPU 有 {open_share:%0} 的时间只在拷贝；拷贝中有 {hidden_fraction:%0} 与内核重叠。"};
inline constexpr Message kOverlapCopies{
    "copies-not-overlapped.do",
    "Copy the next batch on a side stream while the current one is computed: pin_memory=True, "
    ".to(device, non_blocking=True) under torch.cuda.stream(side), and wait_stream before use. It "
    "costs the device memory of one more batch.",
    "在计算当前批次的同时，在另一个流上拷贝下一个批次：pin_memory=True，在 torch.cuda.stream(side) "
    "下调用 .to(device, non_blocking=True)，使用前调用 wait_stream。代价是多占一个批次的显存。"};

inline constexpr Message kComputeBound{
    "compute-bound.seen",
    "the loop waits for data only {wait_fraction:%1} of the time[, and kernels run "
    "{kernel_share:%0} of it][, {nccl_share:%0} of their time in kernels of NCCL, which exchange "
    "data between GPUs]",
    "循环只有 {wait_fraction:%1} 的时间在等待数据[，GPU 内核有 {kernel_share:%0} "
    "的时间在运行][，其中 "
    "{nccl_share:%0} 为 NCCL 内核，用于与其他 GPU 交换数据]。"};
inline constexpr Message kLeaveDataPath{
    "compute-bound.do",
    "[few?Record more batches to be sure; in the batches that counted ({few:count}) the loop "
    "hardly "
    "waits "
    "for data, so faster data would probably not make the run faster.|Leave the data path alone: "
    "faster data would not make this run faster.]",
    "[few?请录制更多批次以便确定；在计入的 {few:count} 个批次中，循环几乎不等待数据，"
    "因此数据再快，运行可能也不会更快。|不必改动数据通路：数据再快，此次运行也不会更快。]"};

inline constexpr Message kKernelLaunchBound{
    "kernel-launch-bound.seen",
    "the GPU is idle {idle_share:%0} of the time although batches are ready",
    "批次已就绪，GPU 仍有 {idle_share:%0} 的时间空闲。"};
inline constexpr Message kLaunchLess{
    "kernel-launch-bound.do",
    "[sync?Wait for the device less often: no .item(), no .cpu() and no printing of losses inside "
    "the step; log every hundred steps.|Launch less: torch.compile(mode='reduce-overhead') or CUDA "
    "graphs, larger batches, no .item() and no printing of losses inside the step (larger batches "
    "change the training).][predicted? The prediction assumes a step without idle time.]",
    "[sync?减少等待设备的次数：训练步内不调用 .item() 和 "
    ".cpu()，不打印损失；每一百步记录一次。|减少内核启动：使用 "
    "torch.compile(mode='reduce-overhead') 或 CUDA Graphs、更大的批次，训练步内不调用 "
    ".item()，不打印损失（更大的批次会改变训练）。][predicted?预测假设训练步没有空闲时间。]"};

inline constexpr Message kTrainerStarved{
    "trainer-starved.seen",
    "the GPU is idle {idle_share:%0} of the time although batches are ready, and the cores are "
    "full",
    "批次已就绪而核心已占满，GPU 仍有 {idle_share:%0} 的时间空闲。"};
inline constexpr Message kCoreForTrainer{
    "trainer-starved.do",
    "[crowded?Other programs use the cores: give this run cores of its own (taskset, a cgroup, a "
    "node of its own), or record again when the machine is quiet.|[launching?Leave the thread that "
    "launches kernels a core of its own: fewer threads in this process (torch.set_num_threads, "
    "OMP_NUM_THREADS).|Leave the training process a core of its own: "
    "[fewer?num_workers={fewer:count}[nice?, or os.nice(10) in worker_init_fn]|[nice?os.nice(10) "
    "in worker_init_fn|more cores, or less work for the threads that make samples]].]]"
    "[predicted? The prediction is an upper bound: a step without idle time.]",
    "[crowded?其他程序占用核心：给此次运行分配独占的核心（taskset、cgroup "
    "或单独的节点），或在机器空闲时重新录制。|[launching?"
    "给启动 GPU "
    "内核的线程留出一个核心：减少此进程中的线程（torch.set_num_threads、OMP_NUM_THREADS）。|"
    "给训练进程留出一个核心：[fewer?num_workers={fewer:count}[nice?，或在 worker_init_fn 中调用 "
    "os.nice(10)]|[nice?在 worker_init_fn 中调用 "
    "os.nice(10)|增加核心，或减少生成样本的线程的工作]]。]][predicted?"
    "预测为上限：训练步没有空闲时间。]"};

inline constexpr Message kPreprocessingOnBusyGpu{
    "preprocessing-on-busy-gpu.seen",
    "the GPU is busy {kernel_share:%0} of the time, {preparing_share:%0} of that preparing "
    "pictures, while {cpu_saturation:%0} of the cores are in use",
    "GPU 有 {kernel_share:%0} 的时间忙碌，其中 {preparing_share:%0} 用于准备图片，而核心只使用了 "
    "{cpu_saturation:%0}。"};
inline constexpr Message kPreprocessOnCpu{
    "preprocessing-on-busy-gpu.do",
    "Move decoding or augmentation back to workers on the CPU, the most expensive first, as long "
    "as the loop does not wait for them; some pixels then differ by a few "
    "levels.[predicted? The prediction is an upper bound: the CPU time that this takes is not in "
    "this recording.]",
    "把解码或增强移回 CPU "
    "上的工作进程，先移成本最高的，只要训练循环不因此等待；部分像素会相差几级。[predicted?"
    "预测为上限：此录制中没有这项工作所需的 CPU 时间。]"};

inline constexpr Message kPinThreadBehind{
    "pin-thread-behind.seen",
    "{ready_share_of_wait:%0} of the wait is for batches that are ready: the pin thread gets the "
    "interpreter late",
    "等待时间的 {ready_share_of_wait:%0} 是在等待已就绪的批次：锁页线程得到解释器太晚。"};
inline constexpr Message kRelievePinThread{
    "pin-thread-behind.do",
    "Give the interpreter fewer things to do beside the pin thread: fewer and larger tensors in a "
    "batch, less Python in the step (logging, metrics, progress bars), or pin in the collate "
    "function.[predicted? The prediction assumes that the handover costs nothing.]",
    "减少与锁页线程争用解释器的工作：每个批次使用更少而更大的张量，训练步中少用 "
    "Python（日志、指标、进度条），或在合批函数中锁页。[predicted?预测假设批次交接不耗时。]"};

// Evidence.
inline constexpr Message kCopiesSeen{"copies-not-overlapped.where",
                                     "[on_device?on the device|from the host]",
                                     "[on_device?在设备上|由主机推断]"};
inline constexpr Message kPageableKnown{"pageable-copies.kind",
                                        "[recorded?recorded|the loader does not pin]",
                                        "[recorded?有记录|加载器不锁页]"};

}  // namespace penstock::analyzer::words
