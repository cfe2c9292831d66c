// SPDX-License-Identifier: Apache-2.0
//
// Texts that name a place in a trace: its batch, its loader; in the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_PLACE_TEXTS(X) \
  X(kBatchOfEpoch, "{} of epoch {}", "{}（epoch {}）") \
  X(kBatchOfLoader, "{} of epoch {}, {}", "{}（epoch {}，{}）") \
  X(kLoaderTip, "The views show this loader. The first in the list is the one that the loop waits for most.", \
    "各视图显示此加载器。列表中的第一个是循环等待最久的加载器。") \
  X(kAllLoaders, "All loaders together", "全部加载器合计") \
  X(kAllLoadersTip, "Tables and curves here add up what was done for all loaders. Findings, the size of the data set, and the times in which the GPU computes and is idle are of one of them, as are overview, what-if and workers.", \
    "此处的表格和曲线合计全部加载器的工作。各项发现、数据集大小以及 GPU 的计算与空闲时间只属于其中一个，概览、假设分析和工作进程视图也是如此。") \
  X(kWorkerOfPid, "worker {}, pid {}", "工作进程 {}，pid {}") \
  X(kIoAbout, "about {}", "约 {}") \
  X(kIoFilesRead, "Files that were read", "读取过的文件") \
  X(kIoStorageTip, "penstock record --data FOLDER -- COMMAND: the recording then says on which file system and device the data lies, and how large it is.", \
    "penstock record --data 文件夹 -- 命令：可得知数据位于哪种文件系统和设备，以及总大小。") \
  X(kWorkerMemoryTip, "At the end of the worker. USS: memory that is shared with nobody, with mapped files. PSS and RSS contain shared memory.", \
    "工作进程结束时的数值。USS：不与其他进程共享的内存，含映射的文件。PSS 和 RSS 含共享内存。") \
  X(kWorkerNoneOfMany, "No worker stands out: of those with {} batches or more, the slowest takes {} times as long as the median one", \
    "没有明显落后的工作进程：批次数不少于 {} 的进程中，最慢者是中位数的 {} 倍") \
  X(kFewerBatches, "< {} batches", "不足 {} 批") \
  X(kFewerBatchesTip, "A worker is compared from {} batches on, if there is another.", "工作进程达到 {} 个批次、且有其他进程可比时才作比较。") \
  X(kTooShort, "too short", "时间太短") \
  X(kLifeRest, "other", "其他") \
  X(kLifeRestProbed, "other, with delays of experiments", "其他（含实验延时）") \
  X(kLifeRestTip, "Other: handing over batches, between two batches, and delays that experiments add", "其他：交付批次、两批之间，以及实验加入的延时") \
  X(kNoWorkersButLoop, "No workers: the loop makes its batches itself (num_workers=0)", "没有工作进程：批次由训练循环自己生成（num_workers=0）") \
  X(kNotPredictable, "not predicted: the verdict says why", "无法预测：原因见结论") \
  X(kStagesOfAllRanks, "the {} recorded ranks together", "录制到的 {} 个 rank 合计") \
  X(kSharesNest, "fetch contains sample and collate, sample contains read, decode and augment, wait may contain get: these shares do not add up", \
    "生成批次包含样本与合批，样本包含读取、解码与增强，等待可能包含出队：这些占比不可相加") \
  X(kSharesOfStreams, "kernels and copies: sums over streams that may run at the same time; the GPU view counts each moment once", \
    "内核与拷贝：各流之和，各流可能同时运行；GPU 视图中每一时刻只计一次") \
  X(kRestOfSamples, "rest of samples: code in no named stage or transform, with its waiting", \
    "样本的其他代码：不属于任何阶段或变换的代码，含其等待时间") \
  X(kGpuNoDriver, "No NVIDIA driver can be seen (libnvidia-ml.so.1 is missing): record on a machine with a GPU, or give the container its GPU.", \
    "看不到 NVIDIA 驱动（缺少 libnvidia-ml.so.1）：请在有 GPU 的机器上录制，或让容器能使用 GPU。") \
  X(kWorkersUnreported, "the loader does not report its workers", "加载器不报告其工作进程") \
  X(kSettingsUnreported, "the loader does not report its settings", "加载器不报告其设置") \
  X(kNoWorkerSeen, "no worker was seen", "没有看到工作进程") \
  X(kRankWaitsMost, "rank {} (of 0 to {}), waits most for data", "rank {}（共 0 至 {}），等待数据最久") \
  X(kRankIsOne, "rank {} (of 0 to {})", "rank {}（共 0 至 {}）") \
  X(kRanksTogether, "all ranks {} {}", "所有 rank 合计 {} {}") \
  X(kInSteadyPart, "in the steady part", "稳定阶段") \
  X(kFirstToLastBatch, "first batch to last", "从首批到末批") \
  X(kAfterFilling, "after the queues have filled", "队列填满后") \
  X(kGpuOfTheTime, "{} of all time: {}", "占全部时间的 {}：{}") \
  X(kGpuMostlyUnknown, "{} of all time: {}; {}: {}", "占全部时间的 {}：{}；另有 {}：{}") \
  X(kIoAnyFolder, "FOLDER", "文件夹") \
  X(kGpuBusyLoopNote, "of the loop's time", "占训练循环的时间") \
  X(kGpuBusyRunNote, "of the recorded time", "占录制的时间") \
  X(kGpuIdleFor, "idle: {}", "空闲：{}") \
  X(kGpuCounterConstant, "{} throughout", "始终为 {}") \
  X(kRankWaitsTip, "share of the loop's time that it waits for data", "循环等待数据的时间占比") \
  X(kWorkerRowTip, "Click: show its memory alone", "单击：突出显示其内存") \
  X(kConfidenceTip, "A product of: how closely the simulation repeats this run, how far the first cause is ahead of the second, how many steady batches were recorded (64 are enough), and how many of them were seen being made. A rate that drifts lowers it.", \
    "以下各项的乘积：模拟与此次运行的吻合程度、第一原因领先第二原因的程度、录制到的稳定批次数（64 个即足够），以及生成过程被录制的批次所占比例。速率漂移会使其降低。") \
  X(kChosenTip, "The span that is chosen in the timeline. Click or Esc: choose none.", \
    "时间线中选中的记录。单击或 Esc：取消选中。") \
  X(kMouseWheel, "wheel", "滚轮") \
  X(kMouseDrag, "drag", "拖动") \
  X(kMouseClick, "click", "单击") \
  X(kMouseDoubleClick, "double click", "双击") \
  /* Ranks */ \
  X(kRanks, "Ranks", "rank 一览") \
  X(kRanksSome, "Ranks: {} of {} recorded", "rank：已录制 {} / {}") \
  X(kWorkersOfRank, "Workers of rank {}", "rank {} 的工作进程") \
  X(kRankWorkers, "workers", "工作进程") \
  X(kRankHost, "host", "主机") \
  X(kRankCores, "cores", "核数") \
  X(kRankCoresTip, "its part of the host's cores", "该 rank 在主机核心中的份额") \
  X(kRankRate, "samples/s", "样本/秒") \
  X(kRankWaits, "time waiting", "等待占比") \
  X(kRankData, "wait per step", "每步等数据") \
  X(kRankDataTip, "waiting for data in one iteration, mean", "每次迭代等待数据的时间（平均）") \
  X(kRankStep, "step, with waiting for ranks", "训练步（含等待 rank）") \
  X(kRankStepTip, "mean; waiting for other ranks included", "平均；包含等待其他 rank 的时间") \
  X(kRankHeldUp, "others wait", "拖慢其他") \
  X(kRankHeldUpTip, "share of the loop: the other ranks wait because this rank's data comes last", "占循环时间的比例：该 rank 的数据最后到达，其他 rank 都在等待") \
  X(kRankShown, \
    "Overview, what-if and the workers below show this rank. So do findings, the size of the data set, and the times in which the GPU computes and is idle. Timeline, tables and curves show all ranks together.", \
    "概览、假设分析和下方的工作进程只显示该 rank；各项发现、数据集大小以及 GPU 的计算与空闲时间也是如此。时间线、表格和曲线合计所有 rank。") \
  X(kRanksUnknown, "The ranks have too few iterations in common.", "各 rank 的共同迭代太少。") \
  X(kRanksApart, "Steps of the ranks do not end together: none waits for another.", "各 rank 的训练步不同时结束：互不等待。") \
  X(kRanksEven, "The ranks get their data together: {} of the loop is waiting for the last.", "各 rank 几乎同时得到数据：等待最后一个占循环的 {}。") \
  X(kRanksOneSlow, "The other ranks wait {} of the loop for the data of rank {}.", "其他 rank 有 {} 的循环时间在等待 rank {} 的数据。") \
  X(kRanksInTurn, "All ranks wait {} of the loop for the one whose data comes last; they take turns.", "所有 rank 有 {} 的循环时间在等待最后到达的数据；各 rank 轮流落后。") \
  X(kRanksInStretches, "All ranks wait {} of the loop for the one whose data comes last; another one is last about every {} iterations.", "所有 rank 有 {} 的循环时间在等待最后到达的数据；约每 {} 次迭代换一个 rank 落后。")
// clang-format on
