// SPDX-License-Identifier: Apache-2.0
//
// Findings about workers, cores, epochs and ranks: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// More workers of an iterable dataset.
inline constexpr Message kRepeatsSamples{
    "workers.repeat-samples",
    "more workers need an iterable dataset that gives each worker its own part by "
    "get_worker_info()[known?: this one does not call it, so each worker would give every sample "
    "again|; whether this one does is not known: if not, each worker would give every sample "
    "again]",
    "可迭代数据集须用 get_worker_info() "
    "为每个工作进程划分数据[known?：它现在没有这样做，每个工作进程都会重复给出全部样本|"
    "（此数据集是否如此未知），否则每个工作进程都会重复给出全部样本]"};

inline constexpr Message kNoWorkerProcesses{
    "no-worker-processes.seen",
    "batches are made in the training process, which waits {wait_fraction:%0} of the time",
    "批次由训练进程自行制作，{wait_fraction:percent} 的时间在等待。"};
inline constexpr Message kStartWorkers{
    "no-worker-processes.do",
    "Set num_workers={workers:count} and prefetch_factor={prefetch:count}[; {repeats:words}].",
    "设置 num_workers，让加载与训练并行[；{repeats:words}]。"};

inline constexpr Message kTooFewWorkers{
    "too-few-workers.seen",
    "[threads?{workers:count thread}|{workers:count worker}] [one?is|are] busy {worker_busy:%0} of "
    "the time and cores are free",
    "工作进程 {worker_busy:percent} 的时间忙碌，而核心仍有空闲。"};
inline constexpr Message kMoreWorkers{
    "too-few-workers.do",
    "Raise [threads?--workers|num_workers] from {workers:count} to "
    "{suggested:count}[; {repeats:words}].",
    "增加 num_workers[；{repeats:words}]。"};

inline constexpr Message kTooManyWorkers{
    "too-many-workers.seen",
    "{num_workers:count} [threads?threads|workers] do what {enough_workers:count} could do",
    "{num_workers:3g} 个工作进程所做的，{enough_workers:3g} 个即可完成。"};
inline constexpr Message kFewerWorkers{
    "too-many-workers.do",
    "[threads?Lower --workers from {num_workers:count} to {enough_workers:count} (--prefetch "
    "{prefetch:count}).|[none?Set num_workers=0: nothing waits for the workers' share.|Set "
    "num_workers={enough_workers:count} and prefetch_factor={prefetch:count}: the same rate with "
    "less memory.]]",
    "减少 num_workers，节省内存和 CPU。"};

inline constexpr Message kIdleWorkers{
    "idle-workers.seen",
    "only {workers_with_batches:count} of {workers:count} workers ever made a batch: the iterable "
    "dataset has too few shards",
    "{workers:3g} 个工作进程中只有 {workers_with_batches:3g} 个制作过批次：数据分片太少。"};
inline constexpr Message kMoreShards{
    "idle-workers.do",
    "Split the dataset into at least {workers:count} shards (a multiple of the workers) and give "
    "each worker its own by get_worker_info(), after which samples come in another order; or set "
    "num_workers={workers_with_batches:count} and save the memory of the others.",
    "增加数据集分片数（样本顺序随之改变），或减少 num_workers。"};

inline constexpr Message kCpuSaturated{
    "cpu-saturated.seen",
    "[crowded?the run got {used:2g} of {usable_cores:3g} cores: [squeeze?decoding takes "
    "{squeeze:.1} times its CPU time, so other programs keep it waiting|workers wait for a core "
    "during {core_wait:%0} of the time of a batch, so other programs or threads of a library keep "
    "them waiting]|{cpu_saturation:%0} of the {usable_cores:3g} usable cores are in use while the "
    "loop waits]",
    "[crowded?此次运行只得到 {usable_cores:3g} 个核心中的 {used:2g} 个：[squeeze?解码耗时为其 CPU "
    "时间的 {squeeze:.1} 倍，说明其他程序使其等待|工作进程制作批次时有 {core_wait:%0} "
    "的时间在等待核心，说明其他程序或某个库的线程使其等待]|循环等待时，{usable_cores:3g} "
    "个可用核心已使用 {cpu_saturation:percent}]。"};
inline constexpr Message kCheaperSamples{
    "cpu-saturated.do",
    "[crowded?Record again when the machine is quiet: other programs shared it during this run. "
    "More workers would only take turns with them.|[raised?More workers gain no more than what is "
    "suggested.|More workers will not help.] Make a sample cheaper (caching what repeats; a faster "
    "decoder or decoding at reduced size, which change pixels), move stages to the GPU, or use "
    "more cores.]",
    "减轻每个样本的 CPU 工作量，或使用更多核心。"};

inline constexpr Message kCpuOversubscribed{
    "cpu-oversubscribed.seen",
    "{workers:count worker} with {worker_threads:count} threads on {usable_cores:3g} cores: "
    "{cpu_per_fetch_wall:.1} times the CPU time of one thread each",
    "{usable_cores:3g} 个核心上有 {worker_threads:3g} 个线程，CPU 用量为每进程单线程时的 "
    "{cpu_per_fetch_wall:.1} 倍。"};
inline constexpr Message kPoolsFillCores{
    "cpu-oversubscribed.pools",
    "{workers:count worker} with {worker_threads:count} threads on {usable_cores:3g} cores, which "
    "are "
    "full: thread pools in the workers use {pools:.1} times the CPU time of the threads that fetch",
    "{usable_cores:3g} 个核心已占满，其上有 {worker_threads:3g} 个线程：工作进程内线程池的 CPU "
    "用量为取数据线程的 {pools:.1} 倍。"};
inline constexpr Message kOneThreadEach{
    "cpu-oversubscribed.do",
    "Let each worker compute with one thread: OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "OPENBLAS_NUM_THREADS=1 in the environment, and cv2.setNumThreads(0) in worker_init_fn.",
    "限制工作进程内的线程数（如 OMP_NUM_THREADS=1）。"};

inline constexpr Message kCpuQuotaOrAffinity{
    "cpu-quota-or-affinity.seen",
    "{usable_cores:3g} of the machine's {cores:count} cores for {num_workers:count worker} "
    "([quota?cgroup quota|affinity mask])",
    "{num_workers:3g} 个工作进程只能使用 {cores:3g} 个核心中的 {usable_cores:3g} 个。"};
inline constexpr Message kWidenLimit{
    "cpu-quota-or-affinity.do",
    "[quota?Raise the CPU limit of the container, or set num_workers to match it.|Widen the mask "
    "(taskset, srun -c, OMP/KMP affinity settings), or set num_workers to match it.]",
    "放宽容器的 CPU 配额或进程亲和性。"};

inline constexpr Message kPrefetchTooShallow{
    "prefetch-too-shallow.seen",
    "the queue runs dry after slow batches, though workers are busy only {worker_busy:%0} of the "
    "time",
    "慢批次之后队列耗尽，而工作进程只有 {worker_busy:percent} 的时间忙碌。"};
inline constexpr Message kDeeper{
    "prefetch-too-shallow.do",
    "[threads?Raise --prefetch to {depth:count}.|Set prefetch_factor={depth:count}.] Batches in "
    "flight then take {ram_bytes:bytes} of memory.",
    "增大 prefetch_factor。"};

inline constexpr Message kStragglers{
    "stragglers.seen",
    "during {head_of_line:%0} of the wait, later batches were already finished[: worker "
    "{slow_worker:count} takes {times:.1} times as long as the others]",
    "等待时间的 {head_of_line:percent} 中，后面的批次早已完成[，工作进程 {slow_worker:3g} "
    "明显较慢]。"};
inline constexpr Message kEvenCosts{
    "stragglers.do",
    "[slow?Find out what slows that process (its core, its affinity, its memory), or |Bring "
    "samples to a similar cost (shrink the largest once, which changes their pixels; sort by size, "
    "which makes batches less random), or ][threads?raise --prefetch. The prediction assumes "
    "batches of equal cost.|pass in_order=False (PyTorch 2.6 and later): batches then come in "
    "another order in every run, which the prediction assumes.]",
    "找出并处理耗时异常的样本。"};

inline constexpr Message kWorkersRestart{
    "workers-restart-each-epoch.seen",
    "{epochs:count} epochs spend {startup_share:%0} of the run waiting for new workers",
    "{epochs:3g} 个 epoch 共有 {startup_share:percent} 的时间在等待新的工作进程。"};
inline constexpr Message kPersist{"workers-restart-each-epoch.do",
                                  "Set persistent_workers=True; workers then keep their copies of "
                                  "the dataset, so that changes which the program makes to it "
                                  "between epochs no longer reach them.",
                                  "设置 persistent_workers=True；此后工作进程保留各自的数据集副本，"
                                  "程序在 epoch 之间对数据集的修改不再生效。"};

inline constexpr Message kSlowFirstBatch{
    "slow-first-batch.seen",
    "the first batch came after {first_batch_s:.1} s; an ordinary batch takes {ordinary_s:ms.0} ms",
    "首个批次在 {first_batch_s:duration} 后才到。"};
inline constexpr Message kStartSooner{
    "slow-first-batch.do",
    "[start?Workers start slowly: keep the dataset object small (it is copied to each worker), "
    "import late, prefer start method fork or a preloaded forkserver.|The first sample of each "
    "worker is slow: open files and build indexes once, in advance, not on first use.]",
    "减少启动时的工作，或保留工作进程。"};

inline constexpr Message kSlowWorkerStart{
    "slow-worker-start.seen",
    "{workers:count} workers started by {method:text} are all at work only after "
    "{last_worker_s:.1} s",
    "{workers:3g} 个工作进程在 {last_worker_s:duration} 后才全部开始工作。"};
inline constexpr Message kSmallerDataset{
    "slow-worker-start.do",
    "Keep the dataset object small, for it is pickled for each worker: file lists as numpy or "
    "Arrow arrays, files opened on first use; import late. Where nothing forbids it, "
    "multiprocessing_context='fork' copies nothing; with forkserver, "
    "set_forkserver_preload(\\['torch', ...\\]) imports once.",
    "减小数据集对象，或使用 fork 启动方式。"};

inline constexpr Message kRankImbalance{
    "rank-imbalance.seen",
    "[waits?rank {rank:count} waits for data {wait_fraction:%0} of the time, the median rank "
    "{median_wait_fraction:%0}|[fixed?the ranks wait for the data of rank {rank:count}|the ranks "
    "wait for each other's data in turn]][; that costs all of them {cost_share:%0} of the loop]",
    "rank {rank:3g} 有 {wait_fraction:percent} 的时间在等待数据，中位 rank 为 "
    "{median_wait_fraction:percent}。"};
inline constexpr Message kEqualRanks{
    "rank-imbalance.do",
    "[fixed?Every rank waits for the slowest. Give all the same work (equal shards, lengths in "
    "buckets that the ranks share, which makes batches less random) and this rank its own cores; "
    "with accelerate, dispatch_batches=False.[ It runs on {host:text}: compare that host's storage "
    "and other load.]|In every iteration another rank is last: the cost of a batch varies. Raise "
    "prefetch_factor on all ranks, and give them the same work (lengths in buckets that the ranks "
    "share, which makes batches less random).]",
    "为最慢的 rank 提供更多资源。"};

inline constexpr Message kRanksExceedHost{
    "ranks-exceed-host.seen",
    "{ranks:count} ranks with {workers_per_rank:3g} workers each[ on {host:text}][: "
    "{workers:count} workers for {usable_cores:3g} cores][memory?[usable_cores?,|:] "
    "{ram_bytes:bytes} of memory, where half of the host's memory is {ram_limit_bytes:bytes}]",
    "{ranks:3g} 个 rank 共有 {workers:3g} 个工作进程[，而主机可用核心为 {usable_cores:3g} 个]。"};
inline constexpr Message kCountForHost{
    "ranks-exceed-host.do",
    "Count for the host, not for the rank: set num_workers={fit:count} on each of its "
    "{ranks:count} ranks[shows?; if the loop still waits then, it needs cheaper samples, the GPU "
    "for decoding, or more cores|[cores?; more would only wait for a core and use memory|; more "
    "would take "
    "over half of its memory]].",
    "按主机而不是按 rank 计算：减少每个 rank 的 num_workers。"};

}  // namespace penstock::analyzer::words
