// SPDX-License-Identifier: Apache-2.0
//
// Assumptions of predictions. `options`: the reader may give options of `penstock whatif`.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kCrowded{
    "assumed.crowded",
    "other programs competed for the cores during the recording; the prediction assumes that they "
    "go on to keep {threads:.1} threads busy[options? (--alone predicts without them)]",
    "录制期间有其他程序争用核心；预测假设它们仍有 {threads:.1} 个线程在忙碌[options?（--alone "
    "可去除其影响）]"};
inline constexpr Message kReplayError{
    "assumed.replay-error",
    "predictions are scaled to the recorded rate; before that, the simulation of the recorded run "
    "is {error:%+0} off",
    "预测已按录制速度校准；校准前，模拟复现此次运行的误差为 {error:%+0}"};
inline constexpr Message kNoHandover{
    "assumed.no-handover",
    "this recording had no worker processes: the prediction assumes 0.8 ms a batch in the worker "
    "and 0.8 ms in the training process, new memory for each batch in the worker, and no memory "
    "for the workers themselves",
    "此次录制没有工作进程：预测假设每个批次在工作进程和训练进程中各需 0.8 "
    "ms，工作进程为每个批次申请新内存，且工作进程自身不占内存"};
inline constexpr Message kRoughMemory{
    "assumed.rough-memory",
    "memory is a rough figure: it comes from {readings:count reading} of {read:count worker}",
    "内存为约数：仅依据 {read:count} 个工作进程的 {readings:count} 次读数"};
inline constexpr Message kOtherBatchAndStep{
    "assumed.batch-and-step",
    "the prediction assumes that everything but the step costs as much per sample as now",
    "预测假设除训练步外，每个样本的耗时与现在相同"};
inline constexpr Message kOtherBatch{
    "assumed.batch",
    "the prediction assumes that everything, the step too, costs as much per sample as "
    "now[options?; --step-ms sets another step]",
    "预测假设每个样本的全部耗时（包括训练步）与现在相同[options?；--step-ms "
    "可设定其他训练步耗时]"};
inline constexpr Message kPinning{"assumed.pinning",
                                  "the prediction assumes that pinning copies at 5 GB/s and that "
                                  "the copy to the device takes as long as now",
                                  "预测假设锁页拷贝的速度为 5 GB/s，且到 GPU 的拷贝耗时与现在相同"};
inline constexpr Message kNotPinning{
    "assumed.not-pinning",
    "the prediction assumes that the copy to the device takes as long as now",
    "预测假设到 GPU 的拷贝耗时与现在相同"};
inline constexpr Message kStepWaits{
    "assumed.step-waits",
    "the recorded step was too short to measure how much it computes: a longer step is assumed to "
    "wait, as for a GPU[options? (--step-cores sets how many cores it keeps busy)]",
    "录制的训练步太短，无法判断其计算量：预测假设更长的训练步是在等待（例如等 "
    "GPU）[options?；--step-cores 可设定它占用多少核心]"};
inline constexpr Message kTogether{
    "assumed.together",
    "the loop takes batches of {loaders:count} loaders in turn: the prediction gives each the same "
    "number of workers and the same prefetch; rates count the samples of [name?{name:text}|the "
    "first loader]",
    "循环轮流从 {loaders:count} "
    "个加载器取批次：预测让每个加载器使用相同的工作进程数和预取深度；速率只计[name? {name:text} "
    "|第一个加载器]的样本"};
inline constexpr Message kUnevenTurns{
    "assumed.uneven-turns",
    "{more:count} workers are slower than {fewer:count} because slow batches recur at a fixed "
    "distance and batches go to the workers in turn: one of the {more:count} gets {uneven:times} "
    "times the average work",
    "{more:count} 个工作进程反而比 {fewer:count} "
    "个慢：慢批次按固定间隔出现，而批次轮流分给各工作进程，"
    "其中一个分到的工作是平均值的 {uneven:times} 倍"};
inline constexpr Message kOneWorkerIsSlower{
    "assumed.one-worker-is-slower",
    "1 worker is slower than none: in a worker the memory of [samples?samples and batch|each "
    "batch] "
    "is mapped anew, which costs about {cost:ms5g} ms of CPU time a batch",
    "1 "
    "个工作进程比没有工作进程更慢：在工作进程中，[samples?样本与批次|每个批次]的内存都要重新映射，"
    "每批约多花 {cost:ms5g} ms 的 CPU 时间"};
inline constexpr Message kReadsTakeTurns{"assumed.reads-take-turns",
                                         "reads of different workers hardly ever overlapped: the "
                                         "prediction assumes that they wait for a "
                                         "lock, which each holds for {each:ms.1} ms a sample",
                                         "不同工作进程的读取几乎从不重叠：预测假设它们在等待同一把"
                                         "锁，每个样本占用该锁 {each:ms.1} ms"};
inline constexpr Message kReadsShare{
    "assumed.reads-share",
    "reads slowed each other down: the prediction assumes that they share {rate:bytes}/s",
    "读取互相拖慢：预测假设它们共享 {rate:bytes}/s"};
inline constexpr Message kReadsApart{
    "assumed.reads-apart",
    "the prediction assumes that reads do not slow each other down: together they reached at most "
    "{rate:bytes}/s, and the limit of the storage is not "
    "known[options? (--disk sets it)]",
    "预测假设读取互不拖慢：它们合计最多达到 {rate:bytes}/s，存储的上限未知[options?（--disk "
    "可设定）]"};
inline constexpr Message kNoCpuTimes{
    "assumed.no-cpu-times",
    "no CPU times were recorded: the prediction does not see that cores are shared",
    "没有录制 CPU 时间：预测不考虑核心被共享"};
inline constexpr Message kFixedBatch{
    "assumed.fixed-batch",
    "measured with --fixed-batch: {rate:4g} a second if data cost nothing, {gain:times} times the "
    "recorded rate; the step is assumed to take {step:%0} of its time beside the loader",
    "用 --fixed-batch 实测：若数据不耗时，每秒 {rate:4g}，为录制速度的 {gain:times} "
    "倍；预测假设训练步的耗时为与加载器并行时的 {step:%0}"};

// Assumptions about changes other than the arguments of the loader.
inline constexpr Message kBatchBytes{"assumed.batch-bytes",
                                     "a batch has {ratio:.2} times its recorded bytes",
                                     "批次的字节数为原来的 {ratio:.2} 倍"};
inline constexpr Message kConversionMoves{
    "assumed.conversion-moves",
    "the conversion to floating point, {share:%0} of augmentation, moves to the device "
    "({source:words}); values stay the same if no transform on floating point comes before the "
    "batch",
    "转换为浮点数（占增强的 "
    "{share:%0}）移到设备上（{source:words}）；若批次之前没有浮点变换，数值不变"};
inline constexpr Message kConversionInLoop{
    "assumed.conversion-in-loop",
    "no device was recorded, so the training loop converts the batches to floating point: "
    "{each:duration} of CPU time for a batch",
    "没有录制到设备，因此由训练循环把批次转换为浮点数：每批占用 CPU {each:duration}"};
inline constexpr Message kConversionStays{
    "assumed.conversion-stays",
    "the conversion to floating point was not seen as a "
    "separate transform, so the workers keep its cost",
    "没有看到作为单独变换的浮点转换，因此其耗时仍计入工作进程"};
inline constexpr Message kDatasetInMemory{
    "assumed.dataset-in-memory",
    "the dataset takes {dataset:bytes} of memory; half of the memory is {room:bytes}",
    "数据集占用 {dataset:bytes} 内存；内存的一半为 {room:bytes}"};
inline constexpr Message kDatasetUnknown{
    "assumed.dataset-unknown",
    "the size of the dataset is not known, so whether it fits into memory was not checked",
    "数据集的大小未知，因此没有检查内存能否容纳它"};
inline constexpr Message kOpeningGoes{
    "assumed.opening-goes",
    "{share:%0} of the reading time ({fixed:ms.2} ms of {mean:ms.2} ms a read) does not depend on "
    "the bytes and is saved",
    "读取时间的 {share:%0}（每次读取 {mean:ms.2} ms 中的 {fixed:ms.2} "
    "ms）与字节数无关，将被省去"};
inline constexpr Message kSmallerPictures{
    "assumed.smaller-pictures",
    "the mean picture has {megapixels:.2} megapixels, about {side:count} pixels on its long side; "
    "{kept:%0} of its pixels stay[reads?|; what reading would save is not known and left out, "
    "since that needs files of different sizes]; the pixel values change",
    "平均图像为 {megapixels:.2} 百万像素，长边约 {side:count} 像素；保留 {kept:%0} "
    "的像素[reads?|；读取能节省多少未知，未计入，因为这需要不同大小的文件]；像素值会改变"};
inline constexpr Message kOtherDecoder{
    "assumed.decoder",
    "{wanted:text} decodes {ratio:.2} times as fast as {recorded:text} ({low:.2} to {high:.2} on "
    "five CPUs; imread_benchmark)[jpeg?|, if the files are JPEG, which the trace does not tell]; "
    "some pixels may differ by a level or two",
    "{wanted:text} 的解码速度为 {recorded:text} 的 {ratio:.2} 倍（五种 CPU 上为 {low:.2} 至 "
    "{high:.2}；imread_benchmark）[jpeg?|，前提是文件为 "
    "JPEG（跟踪中没有记录）]；部分像素可能相差一两级"};
inline constexpr Message kAlone{
    "assumed.alone",
    "without the {threads:.1} threads of other programs that competed for the cores",
    "不计其他程序争用核心的 {threads:.1} 个线程"};
inline constexpr Message kOtherCores{
    "assumed.other-cores",
    "on [several?the cores of the table|{cores:3g} cores] instead of {recorded:3g}[faster?, each "
    "{speed:.2} times as fast|], "
    "without "
    "other programs: what computes scales with them; storage, devices and memory are as recorded",
    "改用[several?表中的核心数|{cores:3g} 个核心]（录制时为 {recorded:3g} 个）[faster?，单核速度为 "
    "{speed:.2} 倍|]，"
    "没有其他程序：计算随之变化，存储、设备和内存与录制时相同"};
inline constexpr Message kLongerStep{
    "assumed.longer-step",
    "the step takes {more:ms.3} ms a sample longer on {device:text}, {overlap:%0} of which "
    "overlaps with other work; the handover carries [files?files|decoded pictures]",
    "在 {device:text} 上，训练步每个样本增加 {more:ms.3} ms，其中 {overlap:%0} "
    "与其他工作重叠；交接的是[files?文件|解码后的图像]"};
inline constexpr Message kDecodeSource{
    "assumed.decode-source",
    "decoding on the device: {source:words}; some pixels differ by a few levels",
    "GPU 解码的依据：{source:words}；部分像素会相差几级"};
inline constexpr Message kAugmentSource{
    "assumed.augment-source",
    "augmenting on the device: {source:words}; random numbers and filters differ",
    "GPU 增强的依据：{source:words}；随机数和滤波不同"};

// Sources of a device's costs.
inline constexpr Message kFromArithmetic{
    "source.arithmetic",
    "estimate: {bytes:count} bytes a pixel at half of {device:text}'s memory bandwidth",
    "推算：每像素 {bytes:count} 字节，按 {device:text} 内存带宽的一半"};
inline constexpr Message kPublished{
    "source.published",
    "published: an A100's JPEG engine, 0.34 ms a megapixel (pytorch/vision#8496)",
    "公开数据：A100 的 JPEG 引擎，每百万像素 0.34 ms（pytorch/vision#8496）"};
inline constexpr Message kFromFile{"source.file", "[said?{said:text}|the file given]",
                                   "[said?{said:text}|给定的文件]"};
inline constexpr Message kTwoSources{"source.two", "{one:words}; {next:words}",
                                     "{one:words}；{next:words}"};

}  // namespace penstock::analyzer::words
