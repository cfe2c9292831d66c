// SPDX-License-Identifier: Apache-2.0
//
// The names of the rules; in English these are their ids.
#pragma once

#include <array>
#include <string_view>

#include "analyzer/words/statement.h"

namespace penstock::analyzer::words {

inline constexpr std::array kRuleNames = {
    Message{"no-worker-processes", "no-worker-processes", "没有使用工作进程"},
    Message{"too-few-workers", "too-few-workers", "工作进程太少"},
    Message{"too-many-workers", "too-many-workers", "工作进程过多"},
    Message{"idle-workers", "idle-workers", "部分工作进程从未制作批次"},
    Message{"cpu-saturated", "cpu-saturated", "CPU 核心不足"},
    Message{"cpu-oversubscribed", "cpu-oversubscribed", "线程数超过核心数"},
    Message{"cpu-quota-or-affinity", "cpu-quota-or-affinity", "CPU 配额或亲和性受限"},
    Message{"prefetch-too-shallow", "prefetch-too-shallow", "预取深度不足"},
    Message{"stragglers", "stragglers", "个别批次特别慢"},
    Message{"slow-samples", "slow-samples", "个别样本特别慢"},
    Message{"workers-restart-each-epoch", "workers-restart-each-epoch",
            "每个 epoch 都重启工作进程"},
    Message{"slow-first-batch", "slow-first-batch", "首个批次来得很慢"},
    Message{"slow-worker-start", "slow-worker-start", "工作进程启动很慢"},
    Message{"worker-memory-copied", "worker-memory-copied", "工作进程复制父进程的内存"},
    Message{"worker-memory-growth", "worker-memory-growth", "工作进程内存持续增长"},
    Message{"worker-memory-leak", "worker-memory-leak", "工作进程占用内存不释放"},
    Message{"shared-memory-too-small", "shared-memory-too-small", "共享内存太小"},
    Message{"allocator-page-faults", "allocator-page-faults", "内存反复归还给系统"},
    Message{"too-many-descriptors", "too-many-descriptors", "文件描述符可能不足"},
    Message{"transfer-ceiling", "transfer-ceiling", "批次交接成为上限"},
    Message{"collate-slow", "collate-slow", "合批太慢"},
    Message{"hot-python-loop", "hot-python-loop", "Python 循环太慢"},
    Message{"slow-call", "slow-call", "调用了较慢的函数"},
    Message{"slow-storage", "slow-storage", "存储读取慢"},
    Message{"serialised-reads", "serialised-reads", "读取互相排队"},
    Message{"cold-cache", "cold-cache", "页缓存未命中"},
    Message{"connection-not-reused", "connection-not-reused", "未重用网络连接"},
    Message{"small-files", "small-files", "小文件太多"},
    Message{"fits-in-ram", "fits-in-ram", "数据集可放入内存"},
    Message{"slow-decoder", "slow-decoder", "解码器较慢"},
    Message{"decode-larger-than-needed", "decode-larger-than-needed", "解码尺寸大于所需"},
    Message{"decodes-more-frames-than-used", "decodes-more-frames-than-used", "解码的帧多于所用"},
    Message{"repeated-work", "repeated-work", "重复进行相同的工作"},
    Message{"move-decode-to-gpu", "move-decode-to-gpu", "可将解码移到 GPU"},
    Message{"move-augment-to-gpu", "move-augment-to-gpu", "可将增强移到 GPU"},
    Message{"transforms-in-the-loop", "transforms-in-the-loop", "训练循环自己做变换"},
    Message{"normalize-on-cpu", "normalize-on-cpu", "归一化在 CPU 上进行"},
    Message{"wide-labels", "wide-labels", "标签类型过宽"},
    Message{"pageable-copies", "pageable-copies", "使用可分页内存拷贝"},
    Message{"kernel-launch-bound", "kernel-launch-bound", "受 GPU 内核启动限制"},
    Message{"copies-not-overlapped", "copies-not-overlapped", "拷贝与计算没有重叠"},
    Message{"compute-bound", "compute-bound", "受计算限制"},
    Message{"trainer-starved", "trainer-starved", "训练进程得不到 CPU"},
    Message{"preprocessing-on-busy-gpu", "preprocessing-on-busy-gpu", "繁忙的 GPU 上还在做预处理"},
    Message{"pin-thread-behind", "pin-thread-behind", "锁页线程得不到执行"},
    Message{"rank-imbalance", "rank-imbalance", "各 rank 不均衡"},
    Message{"ranks-exceed-host", "ranks-exceed-host", "各 rank 的工作进程超过主机所能承受"},
};

}  // namespace penstock::analyzer::words

namespace penstock::analyzer {

// The name of the rule with this id; empty if there is none.
[[nodiscard]] inline Statement RuleName(std::string_view id) {
  for (const Message& name : words::kRuleNames) {
    if (name.id == id) return {&name, {}};
  }
  return {};
}

}  // namespace penstock::analyzer
