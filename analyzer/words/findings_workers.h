// SPDX-License-Identifier: Apache-2.0
//
// Findings about workers, cores and epochs: what was seen, and what to do.
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
    "增加工作进程需要可迭代数据集用 get_worker_info() "
    "为每个工作进程分配各自的部分[known?：此数据集没有调用它，因此每个工作进程都会重复给出全部样本|"
    "；此数据集是否如此未知：若不是，每个工作进程都会重复给出全部样本]"};

inline constexpr Message kNoWorkerProcesses{
    "no-worker-processes.seen",
    "batches are made in the training process, which waits {wait_fraction:%0} of the time",
    "批次在训练进程中生成，训练进程有 {wait_fraction:%0} 的时间在等待。"};
inline constexpr Message kStartWorkers{
    "no-worker-processes.do",
    "Set [threads?workers|num_workers][known?={workers:count} and "
    "[threads?prefetch|prefetch_factor]={prefetch:count}| above 0; which number gains most cannot "
    "be predicted from this recording][; {repeats:words}].",
    "设置 [threads?workers|num_workers][known?={workers:count} 和 "
    "[threads?prefetch|prefetch_factor]={prefetch:count}| 大于 "
    "0；取多少收益最大，无法从此录制预测][；{repeats:words}]。"};

inline constexpr Message kTooFewWorkers{
    "too-few-workers.seen",
    "[threads?{workers:count thread}|{workers:count worker}] [one?is|are] busy {worker_busy:%0} of "
    "the time and cores are free",
    "[threads?{workers:count} 个线程|{workers:count} 个工作进程]有 {worker_busy:%0} "
    "的时间忙碌，而核心仍有空闲。",
    "one"};
inline constexpr Message kMoreWorkers{
    "too-few-workers.do",
    "Raise [threads?--workers|num_workers] from {workers:count} to "
    "{suggested:count}[; {repeats:words}].",
    "把 [threads?--workers|num_workers] 从 {workers:count} 增加到 "
    "{suggested:count}[；{repeats:words}]。"};

inline constexpr Message kTooManyWorkers{
    "too-many-workers.seen",
    "{num_workers:count} [threads?threads|workers] do what {enough_workers:count} could do",
    "{num_workers:count} 个[threads?线程|工作进程]所做的工作，{enough_workers:count} 个即可完成。"};
inline constexpr Message kFewerWorkers{
    "too-many-workers.do",
    "[threads?Lower --workers from {num_workers:count} to {enough_workers:count} (--prefetch "
    "{prefetch:count}).|[none?Set num_workers=0: the run is as fast without workers.|Set "
    "num_workers={enough_workers:count} and prefetch_factor={prefetch:count}: the same rate with "
    "less memory.]]",
    "[threads?把 --workers 从 {num_workers:count} 减少到 {enough_workers:count}（--prefetch "
    "{prefetch:count}）。|[none?设置 num_workers=0：没有工作进程，运行也同样快。|设置 "
    "num_workers={enough_workers:count} 和 "
    "prefetch_factor={prefetch:count}：速率相同，内存更少。]]"};

inline constexpr Message kIdleWorkers{
    "idle-workers.seen",
    "at most {workers_with_batches:count} of {workers:count} workers made a batch in an epoch: the "
    "iterable dataset has too few shards",
    "每个 epoch 中，{workers:count} 个工作进程里最多只有 {workers_with_batches:count} "
    "个生成过批次：可迭代数据集的分片太少。"};
inline constexpr Message kMoreShards{
    "idle-workers.do",
    "Split the dataset into at least {workers:count} shards (a multiple of the workers) and give "
    "each worker its own by get_worker_info(), after which samples come in another order; or set "
    "num_workers={workers_with_batches:count} and save the memory of the others.",
    "把数据集分成至少 {workers:count} 个分片（工作进程数的整数倍），并用 get_worker_info() "
    "让每个工作进程读取各自的分片，此后样本的顺序会改变；或设置 "
    "num_workers={workers_with_batches:count}，省下其余工作进程的内存。"};

inline constexpr Message kCpuSaturated{
    "cpu-saturated.seen",
    "[crowded?the cores are full, but the run got only {used:3g} of {usable_cores:3g}: "
    "[squeeze?decoding takes {squeeze:.1} times its CPU time, so other programs keep it "
    "waiting|workers wait for a core during {core_wait:%0} of the time of a batch, so other "
    "programs or threads of a library keep them waiting]|{cpu_saturation:%0} of the "
    "{usable_cores:3g} usable cores are in use while the loop waits]",
    "[crowded?核心已占满，但此次运行只得到 {usable_cores:3g} 个核心中的 {used:3g} 个："
    "[squeeze?解码耗时为其 CPU 时间的 {squeeze:.1} 倍，说明其他程序使其等待|工作进程生成批次时有 "
    "{core_wait:%0} 的时间在等待核心，说明其他程序或某个库的线程使其等待]|循环等待时，"
    "{usable_cores:3g} 个可用核心已使用 {cpu_saturation:%0}]。"};
inline constexpr Message kCheaperSamples{
    "cpu-saturated.do",
    "[crowded?Record again when the machine is quiet: other programs shared it during this run. "
    "More workers would only take turns with them.|[raised?More workers gain no more than what is "
    "suggested.|More workers will not help.] Make a sample cheaper (caching what repeats; a faster "
    "decoder or decoding at reduced size, which change pixels), move stages to the GPU, or use "
    "more cores.]",
    "[crowded?"
    "请在机器空闲时重新录制：此次运行期间有其他程序共用机器。更多的工作进程只会与它们轮流使用核心。"
    "|[raised?再增加工作进程，收益不会超过已建议的设置。|增加工作进程没有帮助。]"
    "降低每个样本的成本（缓存重复的内容；改用更快的解码器或以缩小的尺寸解码，这会改变像素），把部分"
    "阶段移到 GPU，或使用更多核心。]"};

inline constexpr Message kCpuOversubscribed{
    "cpu-oversubscribed.seen",
    "{workers:count worker} with {worker_threads:count} threads on {usable_cores:3g} cores: "
    "{cpu_per_fetch_wall:.1} times the CPU time of one thread each",
    "{usable_cores:3g} 个核心上有 {workers:count} 个工作进程、{worker_threads:count} 个线程：CPU "
    "时间为每个进程只用一个线程时的 {cpu_per_fetch_wall:.1} 倍。"};
inline constexpr Message kPoolsFillCores{
    "cpu-oversubscribed.pools",
    "{workers:count worker} with {worker_threads:count} threads on {usable_cores:3g} cores[wait?: "
    "threads that fetch wait for a core for {wait:%0} of their time|, which are full], and thread "
    "pools in the workers use {pools:.1} times the CPU time of the threads that fetch",
    "{usable_cores:3g} 个核心上有 {workers:count} 个工作进程、{worker_threads:count} "
    "个线程：[wait?取数据线程有 {wait:%0} 的时间在等待核心|核心已占满]，工作进程内线程池的 CPU "
    "时间为取数据线程的 {pools:.1} 倍。"};
inline constexpr Message kOneThreadEach{
    "cpu-oversubscribed.do",
    "Let each worker compute with one thread: OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "OPENBLAS_NUM_THREADS=1 in the environment, and cv2.setNumThreads(0) in worker_init_fn.",
    "让每个工作进程只用一个线程计算：在环境变量中设置 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 "
    "OPENBLAS_NUM_THREADS=1，并在 worker_init_fn 中调用 cv2.setNumThreads(0)。"};

inline constexpr Message kCpuQuotaOrAffinity{
    "cpu-quota-or-affinity.seen",
    "{usable_cores:3g} of the machine's {cores:count} cores for {num_workers:count worker} "
    "([quota?cgroup quota|affinity mask])",
    "{num_workers:count} 个工作进程只能使用机器 {cores:count} 个核心中的 {usable_cores:3g} "
    "个（[quota?cgroup 配额|亲和性掩码]）。"};
inline constexpr Message kWidenLimit{
    "cpu-quota-or-affinity.do",
    "[quota?Raise the CPU limit of the container, or set num_workers to match it.|Widen the mask "
    "(taskset, srun -c, OMP/KMP affinity settings), or set num_workers to match it.]",
    "[quota?提高容器的 CPU 上限，或把 num_workers 设为与之相符。|放宽亲和性掩码（taskset、srun "
    "-c、OMP/KMP 亲和性设置），或把 num_workers 设为与之相符。]"};

inline constexpr Message kPrefetchTooShallow{
    "prefetch-too-shallow.seen",
    "the queue runs dry after slow batches, though workers are busy only {worker_busy:%0} of the "
    "time",
    "慢批次之后队列耗尽，而工作进程只有 {worker_busy:%0} 的时间忙碌。"};
inline constexpr Message kDeeper{
    "prefetch-too-shallow.do",
    "[threads?Raise --prefetch to {depth:count}.|Set prefetch_factor={depth:count}.] [threads?"
    "Batches|Workers and batches] in flight then take {ram_bytes:bytes} of memory.",
    "[threads?把 --prefetch 提高到 {depth:count}。|设置 "
    "prefetch_factor={depth:count}。][threads?|工作进程和]在途批次将占用 {ram_bytes:bytes} 内存。"};

inline constexpr Message kStragglers{
    "stragglers.seen",
    "during {head_of_line:%0} of the wait, later batches were already finished[: worker "
    "{slow_worker:count} takes {times:.1} times as long as the others]",
    "等待时间的 {head_of_line:%0} 中，后面的批次早已完成[：工作进程 {slow_worker:count} "
    "的耗时为其他工作进程的 {times:.1} 倍]。"};
inline constexpr Message kEvenCosts{
    "stragglers.do",
    "[slow?Find out what slows that process (its core, its affinity, its memory), or |Bring "
    "samples to a similar cost (shrink the largest once, which changes their pixels; sort by size, "
    "which makes batches less random), or ][threads?raise --prefetch.[predicted? The prediction "
    "assumes batches of equal cost.]|pass in_order=False (PyTorch 2.6 and later): batches then "
    "come in another order in every run[predicted?, which the prediction assumes].]",
    "[slow?找出是什么拖慢了该进程（其核心、亲和性或内存），或|"
    "让各样本的成本接近（预先缩小最大的样本，这会改变其像素；按大小排序，这会降低批次的随机性），或"
    "][threads?提高 --prefetch。[predicted?预测假设各批次的成本相同。]|传入 in_order=False"
    "（PyTorch 2.6 及以上）：此后每次运行的批次顺序都不同[predicted?，预测以此为前提]。]"};

inline constexpr Message kWorkersRestart{
    "workers-restart-each-epoch.seen",
    "{epochs:count} epochs spend {startup_share:%0} of the run waiting for new workers",
    "{epochs:count} 个 epoch 共有 {startup_share:%0} 的运行时间在等待新的工作进程。"};
inline constexpr Message kPersist{"workers-restart-each-epoch.do",
                                  "Set persistent_workers=True; workers then keep their copies of "
                                  "the dataset, so that changes which the program makes to it "
                                  "between epochs no longer reach them.",
                                  "设置 persistent_workers=True；此后工作进程保留各自的数据集副本，"
                                  "程序在 epoch 之间对数据集的修改不再生效。"};

inline constexpr Message kSlowFirstBatch{
    "slow-first-batch.seen",
    "the first batch came after {first_batch_s:.1} s; later ones come every {ordinary_s:ms.0} ms",
    "首个批次在 {first_batch_s:.1} 秒后才到；此后平均每 {ordinary_s:ms.0} ms 一个批次。"};
inline constexpr Message kStartSooner{
    "slow-first-batch.do",
    "[start?Workers start slowly: keep the dataset object small (it is copied to each worker), "
    "import late, prefer start method fork or a preloaded forkserver.|The first sample of each "
    "worker is slow: open files and build indexes once, in advance, not on first use.]",
    "[start?工作进程启动缓慢：保持数据集对象小巧（它会复制到每个工作进程），推迟导入，"
    "优先使用启动方式 fork 或预加载的 forkserver。|每个工作进程的首个样本很慢："
    "预先打开文件并建立索引一次，不要等到首次使用。]"};

inline constexpr Message kSlowWorkerStart{
    "slow-worker-start.seen",
    "{workers:count} workers started by {method:text} are all at work only after "
    "{last_worker_s:.1} s",
    "以 {method:text} 方式启动的 {workers:count} 个工作进程，在 {last_worker_s:.1} "
    "秒后才全部开始工作。"};
inline constexpr Message kSmallerDataset{
    "slow-worker-start.do",
    "Keep the dataset object small, for it is pickled for each worker: file lists as numpy or "
    "Arrow arrays, files opened on first use; import late. Where nothing forbids it, "
    "multiprocessing_context='fork' copies nothing; with forkserver, "
    "set_forkserver_preload(\\['torch', ...\\]) imports once.",
    "保持数据集对象小巧，因为它要为每个工作进程序列化（pickle）：文件列表用 numpy 或 Arrow "
    "数组，文件在首次使用时打开；推迟导入。若没有限制，multiprocessing_context='fork' "
    "不复制任何内容；使用 forkserver 时，set_forkserver_preload(\\['torch', ...\\]) 只导入一次。"};

}  // namespace penstock::analyzer::words
