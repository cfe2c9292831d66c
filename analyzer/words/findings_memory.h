// SPDX-License-Identifier: Apache-2.0
//
// Findings about memory, shared memory and descriptors: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kLimitOf{"memory.limit-of", "[group?control group|machine]",
                                  "[group?控制组|机器]"};
inline constexpr Message kHorizon{
    "memory.horizon",
    "[of_epoch?at the end of an epoch of {batches:count} batches|after as many batches as were "
    "recorded, {batches:count}]",
    "[of_epoch?在 {batches:count} 个批次的 epoch 结束时|在与录制同样多的 {batches:count} "
    "个批次之后]"};
inline constexpr Message kRunsOut{
    "memory.runs-out",
    "[time?in {time:ahead} ({low:ahead} [high?to {high:ahead}|or later])|at once]",
    "[time?在 {time:ahead} 后（{low:ahead} [high?至 {high:ahead}|或更久]）|立即]"};
inline constexpr Message kForecast{
    "memory.forecast",
    "[ Each has {private_bytes:bytes} ({low_bytes:bytes} to {high_bytes:bytes}) {horizon:words}.][ "
    "The memory of the {limit_of:words} ({room_bytes:bytes} left of {limit_bytes:bytes}[ for each "
    "of {ranks:count} ranks]) runs out {when:words}.]",
    "[{horizon:words}，每个工作进程占用 {private_bytes:bytes}（{low_bytes:bytes} 至 "
    "{high_bytes:bytes}）。][{limit_of:words}的内存（[{ranks:count} 个 rank "
    "每个：]{limit_bytes:bytes} 中剩余 {room_bytes:bytes}）预计{when:words}耗尽。]"};

inline constexpr Message kWorkerMemoryGrowth{
    "worker-memory-growth.seen",
    "Memory of {workers:count worker} grows by {bytes_per_minute:bytes} a minute in all[copied?, "
    "by "
    "copy on write of what is shared with the parent process]",
    "{workers:count} 个工作进程的内存合计每分钟增长 "
    "{bytes_per_minute:bytes}[copied?，原因是对与父进程共享的内存写时复制]。"};
inline constexpr Message kGrowthKind{"worker-memory-growth.kind",
                                     "[copied?copy on write|not told apart from a leak]",
                                     "[copied?写时复制|无法与泄漏区分]"};
inline constexpr Message kArraysNotObjects{
    "worker-memory-growth.do",
    "Keep what the dataset holds in a numpy array, a torch.Tensor or a pyarrow table (strings: "
    "fixed-width bytes, or one buffer and an array of offsets) instead of lists and dictionaries "
    "of Python objects: such a container has a single reference count.[several? Fewer workers make "
    "fewer copies.] gc.freeze() before the loader is made stops the copies that the garbage "
    "collector makes, not those of reference counts.[ Start method spawn or forkserver: no growth, "
    "but each worker has a copy of the dataset from the start ({shared_bytes:bytes} are still "
    "shared).][persistent? persistent_workers=False frees the copies at the end of every epoch, "
    "but then all workers start anew each time.][{forecast:words}]",
    "把数据集持有的内容放在 numpy 数组、torch.Tensor 或 pyarrow "
    "表中（字符串：定长字节，或一个缓冲区加偏移数组），而不是 Python "
    "对象的列表和字典：这样的容器只有一个引用计数。[several?减少工作进程可减少副本。]"
    "在创建加载器之前调用 gc.freeze() "
    "可避免垃圾回收器造成的复制，但不能避免引用计数造成的复制。[启动方式 spawn 或 "
    "forkserver：不会增长，但每个工作进程从一开始就有一份数据集的副本（仍有 {shared_bytes:bytes} "
    "是共享的）。][persistent?persistent_workers=False 在每个 epoch "
    "结束时释放副本，但所有工作进程每次都要重新启动。][{forecast:words}]"};

inline constexpr Message kWorkerMemoryCopied{
    "worker-memory-copied.seen",
    "[several?each of {workers:count} workers|the only worker] has copied {copied_bytes:bytes} of "
    "the {parent_bytes:bytes} that it shared with the training process[several?, {all_bytes:bytes} "
    "in all]",
    "[several?{workers:count} 个工作进程各自|唯一的工作进程]复制了与训练进程共享的 "
    "{parent_bytes:bytes} 中的 {copied_bytes:bytes}[several?，合计 {all_bytes:bytes}]。"};
inline constexpr Message kCopyLess{
    "worker-memory-copied.do",
    "Keep what the dataset holds in a numpy array, a torch.Tensor or a pyarrow table instead of "
    "lists and dictionaries of Python objects, whose reference counts are written when they are "
    "only read.[fit? Memory bounds the number of workers: each may come to {whole_bytes:bytes}, "
    "and the memory of the {limit_of:words} has room for {fit:count worker}[exceeds?, fewer than "
    "there are].]",
    "把数据集持有的内容放在 numpy 数组、torch.Tensor 或 pyarrow 表中，而不是 Python "
    "对象的列表和字典，后者即使只读也会写引用计数。[fit?内存限制了工作进程数：每个最多可达 "
    "{whole_bytes:bytes}，{limit_of:words}的内存只够 {fit:count} "
    "个工作进程[exceeds?，少于现有数量]。]"};

inline constexpr Message kWorkerMemoryLeak{
    "worker-memory-leak.seen",
    "Memory of {workers:count worker} grows by {bytes_per_minute:bytes} a minute in all and is not "
    "freed: a leak, or an unbounded cache",
    "{workers:count} 个工作进程的内存合计每分钟增长 "
    "{bytes_per_minute:bytes}，且不释放：内存泄漏，或无上限的缓存。"};
inline constexpr Message kFindLeak{
    "worker-memory-leak.do",
    "Look for objects that the dataset, its transforms or collate_fn keep from sample to sample: "
    "growing lists, unbounded caches (functools.lru_cache(maxsize=None)), open files, exceptions "
    "with their frames; tracemalloc in a worker names the line. Until it is found, "
    "[persistent?persistent_workers=False frees it at the end of every epoch.|shorter epochs free "
    "it sooner, since these workers end with their epoch.][{forecast:words}]",
    "查找数据集、变换或 collate_fn "
    "逐样本保留的对象：不断增长的列表、无上限的缓存（functools.lru_cache(maxsize=None)"
    "）、打开的文件、带有栈帧的异常；在工作进程中使用 tracemalloc "
    "可找到代码行。在找到之前，[persistent?persistent_workers=False 会在每个 epoch "
    "结束时释放它。|缩短 epoch 可更早释放它，因为这些工作进程随 epoch 结束。][{forecast:words}]"};

inline constexpr Message kSharedMemoryTooSmall{
    "shared-memory-too-small.seen",
    "batches in flight[ of {ranks:count} ranks] may need {needed_bytes:bytes} of /dev/shm, which "
    "has {shm_bytes:bytes}",
    "[{ranks:count} 个 rank 的]在途批次可能需要 {needed_bytes:bytes} 的 /dev/shm，而其容量为 "
    "{shm_bytes:bytes}。"};
inline constexpr Message kMoreSharedMemory{
    "shared-memory-too-small.do",
    "Give the container more shared memory (docker run --shm-size={mebibytes:count}m, or "
    "--ipc=host)[depth?, or set prefetch_factor={depth:count}|, or lower num_workers].",
    "给容器更多共享内存（docker run --shm-size={mebibytes:count}m，或 --ipc=host）[depth?，或设置 "
    "prefetch_factor={depth:count}|，或减少 num_workers]。"};

inline constexpr Message kAllocatorPageFaults{
    "allocator-page-faults.seen",
    "each sample causes {avoidable_per_sample:count} avoidable page faults, {cpu_share:%0} of the "
    "CPU time of making it: its memory was returned to the system after the sample before",
    "每个样本引起 {avoidable_per_sample:count} 次可避免的缺页，占生成样本 CPU 时间的 "
    "{cpu_share:%0}：其内存在上一个样本之后归还给了系统。"};
inline constexpr Message kKeepMemory{
    "allocator-page-faults.do",
    "[pillow?Start the run with PILLOW_BLOCKS_MAX=16, or without jemalloc: Pillow then keeps the "
    "blocks of its pictures instead of giving each back.|[allocator?{allocator:text} is loaded: if "
    "it serves malloc (LD_PRELOAD), try the run without it, or let it keep memory that was freed "
    "for longer.|Start the run with MALLOC_MMAP_THRESHOLD_=33554432 "
    "MALLOC_TRIM_THRESHOLD_=268435456: glibc then keeps the memory of a picture for the next one."
    "[large? It still maps what is larger than 32 MB anew: keep such arrays and write into them.] "
    "Each worker keeps what its largest sample took.]]",
    "[pillow?启动时设置 PILLOW_BLOCKS_MAX=16，或不使用 jemalloc：Pillow "
    "会保留图片的内存块，而不是逐个归还。|[allocator?已加载 {allocator:text}：若由它提供 "
    "malloc（LD_PRELOAD），请尝试不用它运行，或让它把已释放的内存保留更久。|启动时设置 "
    "MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456：glibc "
    "会把一张图片的内存留给下一张。[large?大于 32 MB "
    "的内存仍会每次重新映射：请保留这样的数组并重复写入。]每个工作进程会保留其最大样本所占的内存。]"
    "]"};

inline constexpr Message kTooManyDescriptors{
    "too-many-descriptors.seen",
    "{descriptors:count} tensors in flight take a file descriptor each, and {limit:count} may be "
    "open",
    "在途的 {descriptors:count} 个张量各占一个文件描述符，最多可打开 {limit:count} 个。"};
inline constexpr Message kFewerDescriptors{
    "too-many-descriptors.do",
    "Raise the limit (ulimit -n 65536), call "
    "torch.multiprocessing.set_sharing_strategy('file_system'), or stack the tensors of a batch "
    "into a few; keep no batches in lists.",
    "提高上限（ulimit -n 65536），调用 "
    "torch.multiprocessing.set_sharing_strategy('file_system')"
    "，或把一个批次的张量堆叠成少数几个；不要把批次保存在列表中。"};

}  // namespace penstock::analyzer::words
