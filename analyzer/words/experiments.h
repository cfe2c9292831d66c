// SPDX-License-Identifier: Apache-2.0
//
// Messages of a plan's experiments, for questions that the trace does not answer.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kTryUnpredicted{
    "plan.try", "{change:words}: not predicted, since the trace does not tell ({why:words})",
    "{change:words}：无法预测，跟踪中信息不足（{why:words}）"};
inline constexpr Message kTryThreads{
    "plan.try-threads",
    "One thread in each worker: their pools fight for the cores; the gain is not predicted",
    "每个工作进程只用一个线程：它们的线程池争用核心；收益未预测"};
inline constexpr Message kTryFork{
    "plan.try-fork",
    "Start the workers by fork instead of {method:text}: nothing is imported or pickled anew; at "
    "most {gain:times} times as fast for the whole recorded run, if their start cost nothing. A "
    "forked worker must not use CUDA, nor a lock that a thread of the training process holds",
    "改用 fork（而非 "
    "{method:text}）启动工作进程：无需重新导入和序列化；若启动不耗时，所录制全程的速度至多为原来的 "
    "{gain:times} 倍。fork 出的工作进程不可使用 CUDA，也不可使用训练进程其他线程持有的锁"};
inline constexpr Message kTryFinding{
    "plan.try-finding",
    "Finding {finding:name}: [bound?at most ]{gain:times} times as fast by itself[bound?, if its "
    "cost went away entirely]; not combined with the steps. Make the change and record again",
    "发现“{finding:name}”：单独改动时速度[bound?至多]为原来的 {gain:times} "
    "倍[bound?（其成本完全消失时）]；未与上述步骤合并计算。改动后请重新录制"};
inline constexpr Message kTryLoader{
    "plan.try-loader",
    "The reference loader has these operations; its rate on your files shows how fast threads of "
    "one process decode on this machine",
    "参考加载器具备这些操作；它处理这些文件的速率，可说明同一进程的多个线程在本机上解码有多快"};
inline constexpr Message kTryMemory{
    "plan.try-memory", "its size is not known, so that memory may not have room for it",
    "其大小未知，因此内存可能放不下"};

}  // namespace penstock::analyzer::words
