// SPDX-License-Identifier: Apache-2.0
//
// The names of the rules, by their ids. A finding in English is headed by the id.
#pragma once

#include <array>
#include <string_view>

#include "analyzer/words/statement.h"

namespace penstock::analyzer::words {

inline constexpr std::array kRuleNames = {
    Message{"no-worker-processes", "no worker processes", "没有使用工作进程"},
    Message{"too-few-workers", "too few workers", "工作进程太少"},
    Message{"too-many-workers", "too many workers", "工作进程过多"},
    Message{"idle-workers", "workers that never make a batch", "部分工作进程从未生成批次"},
    Message{"cpu-saturated", "too few CPU cores", "CPU 核心不足"},
    Message{"cpu-oversubscribed", "more threads than cores", "线程数超过核心数"},
    Message{"cpu-quota-or-affinity", "a CPU quota or affinity", "CPU 配额或亲和性受限"},
    Message{"prefetch-too-shallow", "too shallow prefetch", "预取深度不足"},
    Message{"stragglers", "batches held up by a slow one", "个别批次特别慢"},
    Message{"slow-samples", "slow samples", "个别样本特别慢"},
    Message{"workers-restart-each-epoch", "workers that restart each epoch",
            "每个 epoch 都重启工作进程"},
    Message{"slow-first-batch", "a slow first batch", "首个批次来得很慢"},
    Message{"slow-worker-start", "slow start of workers", "工作进程启动很慢"},
    Message{"worker-memory-copied", "memory that workers copy", "工作进程复制父进程的内存"},
    Message{"worker-memory-growth", "growing memory of workers", "工作进程内存持续增长"},
    Message{"worker-memory-leak", "leaking memory of workers", "工作进程占用内存不释放"},
    Message{"shared-memory-too-small", "too little shared memory", "共享内存太小"},
    Message{"allocator-page-faults", "page faults of the allocator", "内存反复归还给系统"},
    Message{"too-many-descriptors", "too many file descriptors", "文件描述符可能不足"},
    Message{"transfer-ceiling", "handover as the ceiling", "批次交接成为上限"},
    Message{"collate-slow", "slow collating", "合批太慢"},
    Message{"hot-python-loop", "slow Python loops", "Python 循环太慢"},
    Message{"slow-call", "slow calls", "调用了较慢的函数"},
    Message{"slow-storage", "slow storage", "存储读取慢"},
    Message{"serialised-reads", "reads that take turns", "读取互相排队"},
    Message{"cold-cache", "a cold page cache", "页缓存未命中"},
    Message{"connection-not-reused", "connections that are not reused", "未重用网络连接"},
    Message{"small-files", "small files", "小文件太多"},
    Message{"fits-in-ram", "a data set that fits into RAM", "数据集可放入内存"},
    Message{"slow-decoder", "a slow decoder", "解码器较慢"},
    Message{"decode-larger-than-needed", "decoding larger than needed", "解码尺寸大于所需"},
    Message{"decodes-more-frames-than-used", "decoding more frames than used", "解码的帧多于所用"},
    Message{"repeated-work", "repeated work", "重复进行相同的工作"},
    Message{"move-decode-to-gpu", "decoding that could move to the GPU", "可将解码移到 GPU"},
    Message{"move-augment-to-gpu", "augmentation that could move to the GPU", "可将增强移到 GPU"},
    Message{"transforms-in-the-loop", "transforms in the training loop", "训练循环自己做变换"},
    Message{"normalize-on-cpu", "normalising on the CPU", "归一化在 CPU 上进行"},
    Message{"wide-labels", "wide labels", "标签类型过宽"},
    Message{"pageable-copies", "copies from pageable memory", "使用可分页内存拷贝"},
    Message{"kernel-launch-bound", "kernels launched too slowly", "GPU 因启动内核而空闲"},
    Message{"copies-not-overlapped", "copies that do not overlap", "拷贝与计算没有重叠"},
    Message{"compute-bound", "a loop that hardly waits for data", "循环几乎不等待数据"},
    Message{"trainer-starved", "a training process short of CPU", "训练进程得不到 CPU"},
    Message{"preprocessing-on-busy-gpu", "preprocessing on a busy GPU",
            "繁忙的 GPU 上还在做预处理"},
    Message{"pin-thread-behind", "a late pin thread", "锁页线程得不到执行"},
    Message{"rank-imbalance", "imbalance of ranks", "各 rank 不均衡"},
    Message{"ranks-exceed-host", "ranks that exceed the host",
            "各 rank 的工作进程超过主机所能承受"},
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
