// SPDX-License-Identifier: Apache-2.0
//
// The names of the stages (traces/event.h) and of the other factors (analyzer/predict/factors.h).
// In English these are the names that traces and JSON use.
#pragma once

#include <array>

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr std::array kPartNames = {
    Message{"part.read", "read", "读取"},         Message{"part.decode", "decode", "解码"},
    Message{"part.augment", "augment", "增强"},   Message{"part.sample", "sample", "样本"},
    Message{"part.collate", "collate", "合批"},   Message{"part.fetch", "fetch", "生成批次"},
    Message{"part.put", "put", "入队"},           Message{"part.get", "get", "出队"},
    Message{"part.pin", "pin", "锁页"},           Message{"part.wait", "wait", "等待"},
    Message{"part.idle", "idle", "空闲"},         Message{"part.h2d", "h2d", "拷贝到 GPU"},
    Message{"part.kernel", "kernel", "GPU 内核"}, Message{"part.step", "step", "训练步"},
    Message{"part.startup", "startup", "启动"},   Message{"part.mark", "mark", "标记"},
    Message{"part.sync", "sync", "同步等待"},     Message{"part.copy", "copy", "其他拷贝"},
    Message{"part.call", "call", "调用"},         Message{"part.block", "block", "阻塞"},
    Message{"part.tokenize", "tokenize", "分词"}, Message{"part.transfer", "transfer", "交接"},
    Message{"part.compute", "compute", "训练步"}, Message{"part.prefetch", "prefetch", "预取"},
    Message{"part.none", "none", "无"},
};

}  // namespace penstock::analyzer::words
