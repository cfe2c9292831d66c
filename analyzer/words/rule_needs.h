// SPDX-License-Identifier: Apache-2.0
//
// What a recording must contain for a rule to check it.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kNotChecked{"not-checked", "{rules:words}: needs {needs:words}",
                                     "{rules:words}：需要{needs:words}"};
inline constexpr Message kRulesNeedLoader{
    "rules.loader", "almost every rule, since no batches of a loader were recorded",
    "几乎所有规则，因为没有录制到加载器的批次"};

inline constexpr Message kRuleNeedsKernels{"rule-needs.kernels", "GPU kernels in the recording",
                                           "录制中包含 GPU 内核"};
inline constexpr Message kRuleNeedsCopies{
    "rule-needs.copies", "host-to-device copies in the recording", "录制中包含到 GPU 的拷贝"};
inline constexpr Message kRuleNeedsCalls{
    "rule-needs.calls", "calls of the GPU's driver in the recording", "录制中包含 GPU 驱动调用"};
inline constexpr Message kRuleNeedsGpu{"rule-needs.gpu", "a run with a GPU", "使用 GPU 的运行"};
inline constexpr Message kRuleNeedsTypes{"rule-needs.types", "the data types of a batch",
                                         "批次的数据类型"};
inline constexpr Message kRuleNeedsRanks{
    "rule-needs.ranks", "the traces of the other ranks (penstock report takes several)",
    "其他 rank 的跟踪文件（penstock report 可同时接受多个）"};
inline constexpr Message kRuleNeedsEpochs{"rule-needs.epochs",
                                          "two epochs (the loader was iterated once)",
                                          "两个 epoch（加载器只遍历了一次）"};
inline constexpr Message kRuleNeedsIndices{
    "rule-needs.indices",
    "a dataset that is read by index (samples of an iterable dataset cannot be matched)",
    "按索引读取的数据集（可迭代数据集的样本无法对应）"};
inline constexpr Message kRuleNeedsDigests{
    "rule-needs.digests",
    "digests of samples, to know whether epochs repeat each other (a recording of this version)",
    "样本摘要，以判断各 epoch 是否重复（用此版本录制）"};
inline constexpr Message kRuleNeedsComparable{
    "rule-needs.comparable",
    "16 samples that can be compared with themselves in another epoch (of tensors, arrays, "
    "pictures and numbers)",
    "可在不同 epoch 之间比较的 16 个样本（张量、数组、图片和数字）"};
inline constexpr Message kRuleNeedsWorkerCpu{
    "rule-needs.worker-cpu", "CPU time and threads of the workers (a recording with collector)",
    "工作进程的 CPU 时间和线程数（使用 penstock record 录制）"};
inline constexpr Message kRuleNeedsWorkerMemory{
    "rule-needs.worker-memory", "memory of the workers (a recording with collector)",
    "工作进程的内存（使用 penstock record 录制）"};
inline constexpr Message kRuleNeedsFaults{
    "rule-needs.faults",
    "page faults of the workers and the cost of one (a recording of this version with collector)",
    "工作进程的缺页次数与单次缺页的代价（使用此版本的 penstock record 录制）"};
inline constexpr Message kRuleNeedsUnmapped{
    "rule-needs.unmapped", "files that are read by calls (mapped files cause page faults)",
    "以读取方式访问的文件（内存映射会引起缺页）"};
inline constexpr Message kRuleNeedsBatches{"rule-needs.batches",
                                           "eight batches of a worker (a longer recording)",
                                           "每个工作进程八个批次（更长的录制）"};
inline constexpr Message kRuleNeedsMemoryWalks{
    "rule-needs.memory-walks",
    "four readings of each worker's memory after its start (a longer recording, or penstock record "
    "--memory 500ms)",
    "每个工作进程启动后至少四次内存记录（更长的录制，或 penstock record --memory 500ms）"};
inline constexpr Message kRuleNeedsAnonymous{
    "rule-needs.anonymous", "anonymous memory of the workers (a recording of this version)",
    "工作进程的匿名内存（用此版本录制）"};
inline constexpr Message kRuleNeedsFunctions{
    "rule-needs.functions",
    "samples that were followed call by call (a recording of this version, of a Python program "
    "without a profiler of its own)",
    "每个调用都被跟踪的样本（用此版本录制，且 Python 程序自身没有使用性能分析器）"};
inline constexpr Message kRuleNeedsUsualUnits{
    "rule-needs.usual-units",
    "followed samples as long as the others (these took much longer; a longer recording has more)",
    "与其余样本耗时相当的被跟踪样本（已跟踪的样本慢得多；更长的录制会跟踪更多样本）"};
inline constexpr Message kRuleNeedsQuiet{"rule-needs.quiet", "a quiet machine", "空闲的机器"};
inline constexpr Message kRuleNeedsLonger{"rule-needs.longer", "a longer recording", "更长的录制"};

}  // namespace penstock::analyzer::words
