// SPDX-License-Identifier: Apache-2.0
//
// Where workers and the training loop stood still.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kStoodStill{
    "stalls.stood-still",
    "[worker?worker {worker:count}|the training loop] stood still for {longest:duration} in "
    "{function:text} ({place:text})[, inside {waits_in:text} ({waits_place:text})][, at dataset "
    "index {sample:count}][after_epoch?, after the last batch of an epoch][; {count:count} times "
    "there, {time:duration} in all]",
    "[worker?工作进程 {worker:count}|训练循环]在 {function:text}（{place:text}）停滞了 "
    "{longest:duration}[，停在 {waits_in:text}（{waits_place:text}）内][，数据集索引 "
    "{sample:count}][after_epoch?，在一个 epoch 的最后一个批次之后][；该处共 {count:count} "
    "次，合计 {time:duration}]。"};

inline constexpr Message kMorePlaces{"stalls.more", "{more:count more place}",
                                     "另有 {more:count} 处。"};

}  // namespace penstock::analyzer::words
