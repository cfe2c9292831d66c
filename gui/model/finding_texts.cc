// SPDX-License-Identifier: Apache-2.0
//
// Findings in Chinese, by their stable ids.
#include <array>
#include <string_view>

#include "gui/model/overview.h"

namespace penstock::gui {
namespace {

struct Entry {
  std::string_view id;
  std::string_view title;
  std::string_view action;
};

constexpr std::array kChinese = {
    Entry{"no-worker-processes", "没有使用工作进程", "设置 num_workers，让加载与训练并行。"},
    Entry{"too-few-workers", "工作进程太少", "增加 num_workers。"},
    Entry{"too-many-workers", "工作进程过多", "减少 num_workers，节省内存和 CPU。"},
    Entry{"cpu-saturated", "CPU 已饱和", "减轻每个样本的 CPU 工作量，或使用更多核心。"},
    Entry{"cpu-oversubscribed", "线程数超过核心数",
          "限制工作进程内的线程数（如 OMP_NUM_THREADS=1）。"},
    Entry{"cpu-quota-or-affinity", "CPU 配额或亲和性受限", "放宽容器的 CPU 配额或进程亲和性。"},
    Entry{"prefetch-too-shallow", "预取深度不足", "增大 prefetch_factor。"},
    Entry{"stragglers", "个别批次特别慢", "找出并处理耗时异常的样本。"},
    Entry{"workers-restart-each-epoch", "每个 epoch 都重启工作进程",
          "设置 persistent_workers=True。"},
    Entry{"slow-first-batch", "首个批次来得很慢", "减少启动时的工作，或保留工作进程。"},
    Entry{"worker-memory-growth", "工作进程内存持续增长", "用数组代替 Python 对象列表保存数据集。"},
    Entry{"worker-memory-leak", "工作进程占用内存不释放",
          "查找数据集或变换中不断累积的对象与无上限的缓存。"},
    Entry{"shared-memory-too-small", "共享内存太小", "增大 /dev/shm，或减少在途批次。"},
    Entry{"transfer-ceiling", "进程间传递成为上限", "减小批次数据，例如传递 uint8。"},
    Entry{"collate-slow", "合批太慢", "简化 collate_fn，或预先分配批次内存。"},
    Entry{"slow-storage", "存储读取慢", "将数据移到更快的存储，或增加并行读取。"},
    Entry{"cold-cache", "页缓存未命中", "重复运行，或预先读入数据。"},
    Entry{"small-files", "小文件太多", "把样本打包成大文件。"},
    Entry{"fits-in-ram", "数据集可放入内存", "把数据集放入内存或 tmpfs。"},
    Entry{"slow-decoder", "解码器较慢", "换用更快的解码器（OpenCV 或 libjpeg-turbo）。"},
    Entry{"decode-larger-than-needed", "解码尺寸大于所需", "使用缩小解码，或离线缩小图片。"},
    Entry{"repeated-work", "重复进行相同的工作", "把可一次完成的处理移到离线阶段。"},
    Entry{"move-decode-to-gpu", "可将解码移到 GPU", "在 GPU 上解码。"},
    Entry{"move-augment-to-gpu", "可将增强移到 GPU", "在 GPU 上进行增强。"},
    Entry{"normalize-on-cpu", "归一化在 CPU 上进行", "传递 uint8，在设备上归一化。"},
    Entry{"wide-labels", "标签类型过宽", "用更窄的整数类型保存标签或掩码。"},
    Entry{"pageable-copies", "使用可分页内存拷贝", "设置 pin_memory=True。"},
    Entry{"copies-not-overlapped", "拷贝与计算没有重叠", "使用 non_blocking=True 和独立的流。"},
    Entry{"compute-bound", "受计算限制", "数据不是瓶颈，应优化训练步。"},
    Entry{"kernel-launch-bound", "受内核启动限制", "合并小内核，例如使用 CUDA Graphs。"},
    Entry{"trainer-starved", "训练进程得不到 CPU",
          "为训练进程留出核心：减少工作进程，或降低其优先级。"},
    Entry{"preprocessing-on-busy-gpu", "繁忙的 GPU 上还在做预处理",
          "把解码或增强移回 CPU 工作进程。"},
    Entry{"slow-worker-start", "工作进程启动很慢", "减小数据集对象，或使用 fork 启动方式。"},
    Entry{"pin-thread-behind", "锁页线程得不到执行",
          "减少训练步中的 Python 工作，或在 collate 中锁页。"},
    Entry{"idle-workers", "部分工作进程无事可做", "减少工作进程，或增加数据分片。"},
    Entry{"serialised-reads", "各工作进程的读取相互等待",
          "每个工作进程单独打开文件，或更换数据格式。"},
    Entry{"too-many-descriptors", "文件描述符可能耗尽",
          "减少批次中的张量数，或提高打开文件数上限。"},
    Entry{"rank-imbalance", "各 rank 不均衡", "为最慢的 rank 提供更多资源。"},
};

}  // namespace

FindingText TextOf(const analyzer::Finding& finding, Language language) {
  if (language == Language::kChinese) {
    for (const Entry& entry : kChinese) {
      if (entry.id == finding.id) {
        return {std::string(entry.title), finding.title, std::string(entry.action)};
      }
    }
  }
  return {finding.title, "", finding.action};
}

}  // namespace penstock::gui
