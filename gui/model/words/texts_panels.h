// SPDX-License-Identifier: Apache-2.0
//
// Texts of the views of data: I/O, GPU, workers and memory, stages. In the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_PANEL_TEXTS(X) \
  X(kIo, "I/O", "I/O") \
  X(kGpu, "GPU", "GPU") \
  /* Shared by several views */ \
  X(kOfLoopTime, "of the loop", "的循环时间") \
  X(kPlotClickTip, "Click: this moment in the timeline", "单击：在时间线中查看此刻") \
  X(kNoFindingsHere, "No finding about this.", "没有相关发现。") \
  X(kNeedsFor, "Not checked: {}", "未检查：{}") \
  X(kSamplesOf, "sample {}", "样本 {}") \
  /* Figures of the overview */ \
  X(kSimulationUnlike, "the simulation does not match this run", "模拟与此次运行不符") \
  X(kAtMostTheStep, "at most: {} {}, the step alone", "至多：{} {}，仅训练步") \
  X(kMeasured, "Measured", "实测") \
  X(kMeasuredInside, "Experiments in this run", "本次运行中的实验") \
  X(kWholeRunProbed, "whole run {}, with experiments that slow it down", "全程 {}，含放慢运行的实验") \
  X(kWholeRunSteady, "whole run, start-up included  ·  steady {}", "全程，含启动  ·  稳定阶段 {}") \
  X(kOfFewBatches, "of {} batches, not steady yet", "仅 {} 个批次，尚未稳定") \
  X(kOfWholeLoop, "of the whole loop", "的全程循环时间") \
  X(kOfLoopOverLoader, "of this loader's loop", "的此加载器循环时间") \
  X(kTooFewBatches, "too few batches: 32 are enough", "批次太少：32 个即足够") \
  X(kNeedsBatchesOrImages, "no batch and no image was seen: penstock doctor shows what can be", \
    "没有看到批次和图像：penstock doctor 可说明能看到什么") \
  X(kNeedsDataLoader, "none was seen: record a run with a DataLoader", \
    "没有看到：请录制使用 DataLoader 的运行") \
  X(kNeedsRecord, "not known: penstock record would tell", \
    "未知：用 penstock record 录制即可得知") \
  X(kSettingsUnknown, "settings not known: penstock record would tell", \
    "设置未知：用 penstock record 录制即可得知") \
  X(kWorkersUnit, "workers", "工作进程") \
  /* I/O */ \
  X(kIoRead, "Read", "读取总量") \
  X(kIoReadsOfFiles, "{} reads of {} files", "{} 次读取，{} 个文件") \
  X(kIoReads, "{} reads", "{} 次读取") \
  X(kIoWhileReading, "Speed while reading", "读取时的速度") \
  X(kIoOneReader, "one reader: {}/s", "单个读取者：{}/s") \
  X(kIoOneReaderWaits, "one reader: {}/s, without the wait before a read", "单个读取者：{}/s，不含读取前的等待") \
  X(kIoUnderWay, "a read is under way {} of the time", "正在读取的时间占 {}") \
  X(kIoWhileReadingTip, \
    "Bytes over the time during which at least one read is under way. The bytes per second below count all of the time, and most of it passes without a read. One reader: without the wait before a read, which the stage read contains.", \
    "字节数除以至少有一次读取正在进行的时间。下方的每秒字节数按全部时间计，其中大部分时间没有读取。单个读取者：不含读取前的等待；阶段“读取”含此等待。") \
  X(kIoFromCache, "From the page cache", "来自页缓存") \
  X(kIoDiskGave, "storage gave {} of {}", "存储提供 {} / {}") \
  X(kIoAllInMemory, "all of it: the data lies in memory", "全部：数据位于内存") \
  X(kIoOverNetwork, "{} came over the network", "{} 来自网络") \
  X(kIoElsewhere, "not counted for {}", "{} 上没有此计数") \
  X(kIoStorage, "Storage", "存储") \
  X(kIoStorageUnknown, "not known: penstock record --data {} -- ...", "未知：penstock record --data {} -- ...") \
  X(kIoDataSet, "Data set", "数据集") \
  X(kIoFiles, "{} files", "{} 个文件") \
  X(kIoShareOfMemory, "{} of the memory ({})", "占内存的 {}（{}）") \
  X(kIoSamples, "{} samples", "{} 个样本") \
  X(kIoOverTime, "Bytes per second, means over {}", "每秒字节数，{} 内的平均") \
  X(kIoOverTimeTip, "Storage: for the processes that read the data, without the libraries that a worker loads at its start. The timeline has all that all processes read, sample by sample.", "存储：仅计读取数据的进程，不含工作进程启动时加载的程序库。时间线计全部进程的全部读取，逐次采样。") \
  X(kIoWithoutWorker, "from here on without the records of worker {}", "此后缺少工作进程 {} 的记录") \
  X(kIoWithoutLoop, "from here on without the records of the training process", "此后缺少训练进程的记录") \
  X(kIoSeenLine, "read by the program", "程序读取") \
  X(kIoDiskLine, "fetched from storage by the readers", "读取进程从存储取得") \
  X(kIoSizes, "Size of one read", "单次读取的大小") \
  X(kIoSizesNote, "share of the reads; median {}", "占读取次数的比例；中位数 {}") \
  X(kIoSizeTip, "{} – {}: {} of the reads, {} of the bytes", "{} – {}：占读取次数 {}，占字节 {}") \
  X(kIoSlowestFiles, "Files that took longest", "耗时最长的文件") \
  X(kIoSlowestShown, "{} of {} shown", "显示 {} / {}") \
  X(kIoColumnReads, "reads", "次数") \
  X(kIoColumnTotal, "+ decode", "含解码") \
  X(kIoTotalTip, "Reading and decoding together. A decode counts for the file that its thread read last for the same sample; none if it read several. The first sample of each process is left out: the process loads its decoder in it.", \
    "读取与解码合计。解码计入其线程此前为同一样本最后读取的文件；若读取了多个文件则不计入。各进程的首个样本不计入：进程在其中加载解码器。") \
  X(kIoFirstDecode, "without {} of decoding it in the first sample of a process", "未计入 {} 的解码：属于某进程的首个样本") \
  X(kIoColumnRate, "speed", "速度") \
  X(kIoColumnLongest, "longest", "最长") \
  X(kIoColumnSamples, "sample ids", "样本编号") \
  X(kIoAboutReads, "Findings about reading", "关于读取的发现") \
  X(kIoNoReads, "No reads of files were recorded.", "没有录制到文件读取。") \
  X(kIoNoReadsWhy, \
    "Penstock sees read(), mmap and stdio of files that look like a dataset. Data from a network service, or generated in memory, does not pass there.", \
    "Penstock 能看到数据集文件的 read()、mmap 和 stdio。来自网络服务或在内存中生成的数据不经过这些调用。") \
  X(kIoNoReadsImported, \
    "This trace was imported. The file that it was made from has no reads of files.", \
    "此跟踪由其他程序的文件导入，该文件中没有文件读取。") \
  X(kRecordItself, "To record the run with Penstock itself:", "用 Penstock 直接录制：") \
  X(kIoNoReadsHere, "No reads begin in the selection.", "选区内没有读取。") \
  X(kIoNoPaths, "The names of the files were not recorded. penstock record records them.", \
    "未记录文件名：用 penstock record 录制即可得到。") \
  X(kIoMapped, "{} of it mapped, not read: it comes with page faults", "其中 {} 为内存映射：随缺页载入") \
  /* GPU */ \
  X(kGpuComputing, "Kernels run", "有内核运行") \
  X(kGpuBusyNote, "of the loop's steady time", "占训练循环稳定阶段的时间") \
  X(kGpuBusyPartNote, "of the selected time", "占选定时间") \
  X(kGpuNcclNote, "{}; {} of the kernels' time is NCCL's", "{}；内核时间的 {} 为 NCCL") \
  X(kGpuIdle, "Idle", "空闲") \
  X(kGpuCopies, "Copies to the GPU", "拷贝到 GPU") \
  X(kGpuCopyNote, "{}; {} of it beside a kernel", "{}；其中 {} 与计算重叠") \
  X(kGpuBandwidth, "Copy speed to the GPU", "拷贝到 GPU 的速度") \
  X(kGpuBandwidthNote, "fastest kind, 64 KiB or more", "最快的一类，仅计 64 KiB 以上的拷贝") \
  X(kGpuModel, "Device", "设备") \
  X(kGpuCount, "{} GPUs", "{} 个 GPU") \
  X(kGpuNotNamed, "model not recorded; penstock record would tell", "未记录型号，用 penstock record 录制即可得知") \
  X(kGpuWhereTime, "Where the GPU's time goes", "GPU 的时间去向") \
  X(kGpuCauseComputing, "kernels run", "有内核运行") \
  X(kGpuCauseLoader, "the loop waits for data", "循环在等数据") \
  X(kGpuCauseCopy, "a copy to the GPU", "正在拷贝到 GPU") \
  X(kGpuCauseSync, "the program waits for a result", "程序在等待结果") \
  X(kGpuCauseLaunch, "the program launches nothing", "程序没有启动 GPU 内核") \
  X(kGpuCauseUnknown, "reason not known", "原因未知") \
  X(kGpuOverTime, "Busy over time", "繁忙程度随时间变化") \
  X(kGpuOverTimeMean, "Busy over time, mean of {} GPUs", "繁忙程度随时间变化，{} 个 GPU 的平均") \
  X(kGpuLineKernels, "kernels run", "有内核运行") \
  X(kGpuLineCopies, "copying", "拷贝") \
  X(kGpuCopyKinds, "Copies by kind", "按类型统计的拷贝") \
  X(kGpuCopiesAndKernels, "Copies and kernels", "拷贝与 GPU 内核") \
  X(kGpuCopiesAndCalls, "Copies and calls", "拷贝与驱动调用") \
  X(kGpuKind, "copies", "拷贝") \
  X(kGpuToDevice, "to the GPU", "到 GPU") \
  X(kGpuFromDevice, "from the GPU", "自 GPU") \
  X(kGpuOnDevice, "within the GPU", "GPU 内部") \
  X(kGpuPeer, "between GPUs", "GPU 之间") \
  X(kGpuSet, "set memory", "填充显存") \
  X(kGpuOtherCopy, "other", "其他") \
  X(kComma, ", ", "，") \
  X(kColon, ": ", "：") \
  X(kMostOf, "max {}", "最高 {}") \
  X(kLimitOf, "limit {}", "上限 {}") \
  X(kGpuColumnBeside, "overlap", "重叠") \
  X(kGpuCalls, "Calls", "驱动调用") \
  X(kGpuCall, "call", "调用") \
  X(kGpuPageable, "pageable", "可分页内存") \
  X(kGpuPinned, "pinned", "锁页内存") \
  X(kGpuManaged, "managed", "托管内存") \
  X(kGpuUnknownKind, "unknown", "类型未记录") \
  X(kGpuColumnSpeed, "speed", "速度") \
  X(kGpuSpeedNote, "speed: of copies of 64 KiB or more", "速度：仅计 64 KiB 以上的拷贝") \
  X(kGpuKernels, "Kernels", "GPU 内核") \
  X(kGpuKernel, "kernel", "GPU 内核") \
  X(kGpuCounters, "Counters of the driver", "驱动计数器") \
  X(kGpuCounterNote, "mean {}, from {} to {}", "平均 {}，{} 至 {}") \
  X(kGpuNvmlNote, "NVML: of the whole device, other programs included; averaged over 0.2 to 1 s", \
    "NVML：整个设备，含其他程序；0.2 至 1 秒的平均") \
  X(kGpuNvmlUtilization, "share of time with a kernel running", "有 GPU 内核运行的时间占比") \
  X(kGpuNvmlMemory, "memory in use", "显存占用") \
  X(kGpuProcessMemory, "memory of the program", "程序占用的显存") \
  X(kGpuPcieReceived, "PCIe to the GPU", "PCIe 到 GPU") \
  X(kGpuPcieSent, "PCIe from the GPU", "PCIe 自 GPU") \
  X(kGpuPower, "power", "功率") \
  X(kGpuClock, "SM clock", "SM 频率") \
  X(kGpuMemoryClock, "memory clock", "显存频率") \
  X(kGpuMemoryBusy, "memory interface busy", "显存接口繁忙") \
  X(kGpuTemperature, "temperature", "温度") \
  X(kGpuDeviceN, "GPU {}: {}", "GPU {}：{}") \
  X(kGpuNothing, "No GPU activity was recorded.", "没有录制到 GPU 活动。") \
  X(kGpuNothingOff, "This trace was recorded with --gpu off.", "此跟踪录制时使用了 --gpu off。") \
  X(kGpuNothingSeen, \
    "The program used no GPU that could be seen, or nothing of it could be recorded.", \
    "程序没有使用可见的 GPU，或者无法录制其信息。") \
  X(kGpuMissing, "Missing", "缺少") \
  X(kGpuMissKernels, "kernels: when the GPU computed, and why it stood still", \
    "GPU 内核：GPU 何时计算，为何空闲") \
  X(kGpuMissCopies, "copies: how many, how large, how fast, from pageable or pinned memory", \
    "拷贝：次数、大小、速度，来自可分页还是锁页内存") \
  X(kGpuMissCounters, "counters: utilisation, memory, power, PCIe traffic", \
    "计数器：利用率、显存、功率、PCIe 流量") \
  X(kGpuRecordThem, "To record them:", "录制方法：") \
  X(kGpuWhyNot, \
    "To learn beforehand what can be seen here, and why not the rest:", \
    "事先了解此处能看到什么、为何看不到其余部分：") \
  X(kGpuNoKernels, \
    "Kernels were not recorded: why the GPU is idle is not known.", \
    "未录制 GPU 内核：GPU 空闲的原因未知。") \
  X(kGpuNoCopies, "No copies to the GPU were recorded.", "没有录制到拷贝到 GPU 的操作。") \
  X(kGpuNoCounters, "No counters were recorded.", "没有录制计数器。") \
  X(kGpuAbout, "Findings about the GPU", "关于 GPU 的发现") \
  /* Workers and memory */ \
  X(kWorkerStartup, "starts after", "启动用时") \
  X(kWorkerStartupTip, "from the beginning of the epoch until it begins its first batch", "从 epoch 开始到其开始生成首个批次") \
  X(kWorkerBatch, "per batch", "每批") \
  X(kWorkerBatches, "batches", "批次数") \
  X(kReadyNote, \
    "Made, not yet taken. Line: mean; shade: lowest to highest; dashed: the most possible", \
    "已完成、尚未取走。实线：平均；阴影：最低至最高；虚线：上限") \
  X(kWorkerAgainst, "vs. median", "相对中位数") \
  X(kWorkerAgainstTip, "time for a batch, divided by the median worker's", "每批耗时与工作进程中位数之比") \
  X(kWorkerMemory, "memory", "内存") \
  X(kWorkerGrowth, "growth", "增长") \
  X(kGrowthTooShort, \
    "Too short to say: growth needs samples over 20 s after the first fifth of the worker's life.", \
    "时间太短：需要工作进程存活期前五分之一之后至少 20 秒的采样。") \
  X(kNoGrowth, "none", "无") \
  X(kPerMinute, "{}/min", "{}/分钟") \
  X(kWorkerStandsOut, \
    "Worker {} takes {} times as long for a batch as the median worker", \
    "工作进程 {} 每批耗时是中位数的 {} 倍") \
  X(kWorkerNoneStandsOut, \
    "No worker stands out: the slowest takes {} times as long as the median one", \
    "没有明显落后的工作进程：最慢者是中位数的 {} 倍") \
  X(kMemoryUss, "own (USS)", "独占（USS）") \
  X(kMemoryPss, "proportional (PSS)", "按比例分摊（PSS）") \
  X(kMemoryRss, "resident (RSS)", "常驻（RSS）") \
  X(kMemoryUssTip, \
    "USS: memory that no other process has mapped; also batches and mapped files while that is so", \
    "USS：没有其他进程映射的内存；批次和映射的文件在此期间也计入") \
  X(kMemoryPssTip, "PSS: its own memory, and its share of what several processes share; may be added up", \
    "PSS：独占内存加上共享部分的分摊，可以相加") \
  X(kMemoryRssTip, "RSS: all of its memory that is resident; what is shared counts in every process", \
    "RSS：全部驻留内存，共享部分在每个进程中重复计入") \
  X(kMemoryShared, "/dev/shm, all programs", "/dev/shm（所有程序）") \
  X(kMemoryOfParent, "shared", "共享") \
  X(kMemoryOfParentTip, \
    "Memory that a worker shares with the training process since the fork: where the curve falls, pages were copied", \
    "工作进程自 fork 起与训练进程共享的内存：减少的部分已被复制") \
  X(kMemorySeldom, "Read about every {}, from {} on: reading it holds the process up", \
    "约每 {} 读取一次，自 {} 起：读取会使进程停顿") \
  X(kMemorySeldomInPart, "Read about every {}: reading it holds the process up", \
    "约每 {} 读取一次：读取会使进程停顿") \
  X(kMemoryFewSamples, "recorded {} times only: too few for a curve", "仅记录了 {} 次，不足以画出曲线") \
  X(kMemoryAlike, "{} processes, each about {}", "{} 个进程，各约 {}") \
  X(kMemoryNeeds, "Memory was not recorded: record with penstock record", \
    "未记录内存：请用 penstock record 录制") \
  X(kMemoryMapped, "RSS (resident)", "常驻内存（RSS）") \
  X(kMemoryMappedSum, "Memory (RSS), summed", "常驻内存（RSS）合计") \
  X(kMemoryMappedSumTip, "Shared memory counts several times: once for each process that has mapped it", \
    "共享部分重复计入：映射它的每个进程各计一次") \
  /* Stages */ \
  X(kShareNote, "share: {}", "占比：{}") \
  X(kShareOfMaking, "of the time making data", "生成环节占生成数据的时间") \
  X(kShareOfLoop, "for stages of the loop, of its time", "训练循环的环节占循环时间") \
  X(kShareWithUnended, "for those of the GPU, with the last step, whose end was not recorded", \
    "其中 GPU 的环节计入未录到结束的最后一步") \
  X(kShareOfRun, "for startup, of the run", "启动占整个运行的时间") \
  X(kShareOfLives, "for idle, of the workers' lives", "空闲占工作进程存活时间") \
  X(kStageCallsAbove, "Slowest calls of {}", "最慢的调用：{}") \
  X(kStageCallsBetween, "Calls of {}: {} – {}", "调用：{}，{} – {}") \
  X(kStageCallsShown, "{} of {}", "{} / {}") \
  X(kStageBinTip, "{} – {}: {} of the calls. Click: list them", "{} – {}：占调用的 {}。单击列出") \
  X(kMixedTip, "Calls of several kinds: each has its percentiles below", "包含多种调用：下方各自列出分位数") \
  X(kFirstOfWorker, "first sample of worker {}", "工作进程 {} 的首个样本") \
  X(kFirstOfProcess, "first sample of its process", "所在进程的首个样本") \
  X(kStageGoTip, "Click: show it in the timeline", "单击：在时间线中查看") \
  X(kStageNothingHere, "Nothing begins in the selection.", "选区内没有调用。") \
  X(kLongestOf, "Longest {}", "最长的 {}")                                                         \
  X(kLongestTip, "One of the longest calls that the finding is about", "该发现所指的最长调用之一") \
  X(kAllCalls, "All calls", "所有调用")
// clang-format on
