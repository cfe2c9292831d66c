// SPDX-License-Identifier: Apache-2.0
//
// The finding about samples that take much longer than the others.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kSlowSamples{
    "slow-samples.seen",
    "{slow:count} of {samples:count sample} take {times:.1} times as long as the median; this "
    "excess, most of it in [read?reads|[decode?decoding|[tokenize?tokenizing|transforms]]], is "
    "{extra_share:%0} of the time of all samples[: dataset indices {ids:text}][, one every "
    "{every:count} samples][; their files are {bytes_times:.1} times as large][; they are from "
    "{place:text}][repeats?; the same samples are slow in each epoch][changes?; in each epoch "
    "other samples are slow][; [line?line {line:count} of ]{function:text} ({place_of:text}) takes "
    "{there:duration} in a slow sample and {in_others:duration} in others]",
    "{samples:count} 个样本中有 {slow:count} 个的耗时为中位数的 {times:.1} "
    "倍；超出的时间主要在[read?读取|[decode?解码|[tokenize?分词|变换]]]，占所有样本耗时的 "
    "{extra_share:%0}[：数据集索引 {ids:text}][，每 {every:count} "
    "个样本一个][；其文件大小为其他样本的 "
    "{bytes_times:.1} 倍][；都来自 {place:text}][repeats?；每个 epoch "
    "都是同样的样本慢][changes?；每个 epoch "
    "慢的样本都不同][；{function:text}（{place_of:text}）[line?"
    "的第 {line:count} 行]在慢样本中耗时 {there:duration}，在其他样本中 "
    "{in_others:duration}]。"};
inline constexpr Message kLookAtSlowSamples{
    "slow-samples.do",
    "[changes?It is not the samples: look for what stops a worker now and then, such as storage, "
    "a lock, a server or garbage collection.|Run one of them alone[first?, for example "
    "dataset\\[{first:count}\\]], and see what it does more than others.][bytes_times? Store large "
    "files smaller once, which changes pictures.][ordinary? Functions and lines are those of "
    "ordinary samples: too few samples were followed to compare.][predicted? The prediction "
    "assumes that slow samples take as long as the median.]",
    "[changes?问题不在样本本身：请查找偶尔使工作进程停顿的原因，例如存储、锁、服务器或垃圾回收。|"
    "单独运行其中一个样本[first?，例如 dataset\\[{first:count}\\]]，看它比其他样本多做了什么。]"
    "[bytes_times?把大文件一次性存成较小的尺寸，这会改变图像。][ordinary?"
    "函数与代码行来自普通样本：被跟踪的样本太少，无法比较。][predicted?"
    "预测假设慢样本的耗时等于中位数。]"};

}  // namespace penstock::analyzer::words
