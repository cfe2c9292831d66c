// SPDX-License-Identifier: Apache-2.0
//
// Findings in Chinese, by their stable ids: what, what of it was seen, what to do. The figures are
// those of the finding's evidence.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/core.h>

#include "analyzer/words/format.h"
#include "gui/model/overview.h"

namespace penstock::gui {
namespace {

struct Entry {
  std::string_view id;
  std::string_view title;
  // {key:kind} stands for a figure of the evidence; kinds are those of FigureText(). A clause (they
  // are parted by |) with a figure that is not there is left out.
  std::string_view seen;
  std::string_view action;
};

constexpr std::array kChinese = {
    Entry{"no-worker-processes", "没有使用工作进程",
          "批次由训练进程自行制作，{wait_fraction:%} 的时间在等待",
          "设置 num_workers，让加载与训练并行。"},
    Entry{"too-few-workers", "工作进程太少", "工作进程 {worker_busy:%} 的时间忙碌，而核心仍有空闲",
          "增加 num_workers。"},
    Entry{"too-many-workers", "工作进程过多",
          "{num_workers:n} 个工作进程所做的，{enough_workers:n} 个即可完成",
          "减少 num_workers，节省内存和 CPU。"},
    Entry{"idle-workers", "部分工作进程从未制作批次",
          "{workers:n} 个工作进程中只有 {workers_with_batches:n} 个制作过批次：数据分片太少",
          "增加数据集分片数，或减少 num_workers。"},
    Entry{"cpu-saturated", "CPU 已饱和",
          "循环等待时，{usable_cores:n} 个可用核心已使用 {cpu_saturation:%}",
          "减轻每个样本的 CPU 工作量，或使用更多核心。"},
    Entry{"cpu-oversubscribed", "线程数超过核心数",
          "{usable_cores:n} 个核心上有 {worker_threads:n} 个线程，CPU 用量为每进程单线程时的 "
          "{cpu_per_fetch_wall:x} 倍",
          "限制工作进程内的线程数（如 OMP_NUM_THREADS=1）。"},
    Entry{"cpu-quota-or-affinity", "CPU 配额或亲和性受限",
          "{num_workers:n} 个工作进程只能使用 {cores:n} 个核心中的 {usable_cores:n} 个",
          "放宽容器的 CPU 配额或进程亲和性。"},
    Entry{"prefetch-too-shallow", "预取深度不足",
          "慢批次之后队列耗尽，而工作进程只有 {worker_busy:%} 的时间忙碌",
          "增大 prefetch_factor。"},
    Entry{"stragglers", "个别批次特别慢",
          "等待时间的 {head_of_line:%} 中，后面的批次早已完成|，工作进程 {slow_worker:n} 明显较慢",
          "找出并处理耗时异常的样本。"},
    Entry{"workers-restart-each-epoch", "每个 epoch 都重启工作进程",
          "{epochs:n} 个 epoch 共有 {startup_share:%} 的时间在等待新的工作进程",
          "设置 persistent_workers=True。"},
    Entry{"slow-first-batch", "首个批次来得很慢", "首个批次在 {first_batch_s:s} 后才到",
          "减少启动时的工作，或保留工作进程。"},
    Entry{"slow-worker-start", "工作进程启动很慢",
          "{workers:n} 个工作进程在 {last_worker_s:s} 后才全部开始工作",
          "减小数据集对象，或使用 fork 启动方式。"},
    Entry{"worker-memory-growth", "工作进程内存持续增长",
          "{workers:n} 个工作进程合计每秒增长 {bytes_per_s:B}",
          "用数组代替 Python 对象列表保存数据集。"},
    Entry{"worker-memory-leak", "工作进程占用内存不释放",
          "{workers:n} 个工作进程合计每秒新增 {bytes_per_s:B}，不再归还",
          "查找数据集或变换中不断累积的对象与无上限的缓存。"},
    Entry{"shared-memory-too-small", "共享内存太小",
          "在途批次可能需要 {needed_bytes:B}，而 /dev/shm 只有 {shm_bytes:B}",
          "增大 /dev/shm，或减少在途批次。"},
    Entry{"allocator-page-faults", "内存反复归还给内核",
          "每个样本多缺页 {avoidable_per_sample:n} 次，占制作样本 CPU 时间的 {cpu_share:%}",
          "设置 MALLOC_MMAP_THRESHOLD_ 与 MALLOC_TRIM_THRESHOLD_，或更换内存分配器。"},
    Entry{"too-many-descriptors", "文件描述符可能不足",
          "在途张量需要 {descriptors:n} 个文件描述符，上限为 {limit:n} 个",
          "提高 ulimit -n，或把一批中的张量合并。"},
    Entry{"transfer-ceiling", "进程间传递成为上限",
          "接收一个批次耗时 {receive_s:s}，每秒至多 {ceiling_per_s:n}",
          "减小批次数据，例如传递 uint8。"},
    Entry{"collate-slow", "合批太慢", "合批占制作批次时间的 {collate_share:%}",
          "简化 collate_fn，或预先分配批次内存。"},
    Entry{"slow-storage", "存储读取慢",
          "每次读取的速度为 {bytes_per_s_of_a_reader:B}/s，占工作进程 {read_share:%} 的时间",
          "将数据移到更快的存储，或增加并行读取。"},
    Entry{"serialised-reads", "读取互相排队",
          "不同工作进程的读取从不重叠，{reading_alone:%} 的时间只有一个在读",
          "在每个工作进程中各自打开文件，读取时不加锁。"},
    Entry{"cold-cache", "页缓存未命中",
          "首个 epoch 每批读取耗时 {first_epoch_read_s:s}，之后为 {later_read_s:s}",
          "重复运行，或预先读入数据。"},
    Entry{"small-files", "小文件太多", "文件平均 {bytes_per_file:B}，每个读取需 {read_p50_s:s}",
          "把样本打包成大文件。"},
    Entry{"fits-in-ram", "数据集可放入内存",
          "每个 epoch 都重新读取 {dataset_bytes:B}，内存的一半为 {room_bytes:B}",
          "把数据集放入内存或 tmpfs。"},
    Entry{"slow-decoder", "解码器较慢", "Pillow 解码占工作进程 {decode_share:%} 的时间",
          "换用更快的解码器（OpenCV 或 libjpeg-turbo）。"},
    Entry{"decode-larger-than-needed", "解码尺寸大于所需",
          "为 {sample_bytes:B} 的样本解码了 {decoded_bytes_per_sample:B}",
          "使用缩小解码，或离线缩小图片。"},
    Entry{"repeated-work", "重复进行相同的工作",
          "{epochs:n} 个 epoch 中，工作进程 {repeated_share:%} 的时间重复得到相同的结果",
          "把可一次完成的处理移到离线阶段。"},
    Entry{"move-decode-to-gpu", "可将解码移到 GPU",
          "解码占工作进程 {stage_share:%} 的时间，且核心已占满", "在 GPU 上解码。"},
    Entry{"move-augment-to-gpu", "可将增强移到 GPU",
          "增强占工作进程 {stage_share:%} 的时间，且核心已占满", "在 GPU 上进行增强。"},
    Entry{"normalize-on-cpu", "归一化在 CPU 上进行",
          "转换为浮点数占工作进程 {share_of_fetch:%} 的时间|，占批次字节的 "
          "{floating_share_of_batch:%}",
          "传递 uint8，在设备上归一化。"},
    Entry{"wide-labels", "标签类型过宽", "批次的 {batch_bytes:B} 中有 {int64_bytes:B} 是 64 位整数",
          "用更窄的整数类型保存标签或掩码。"},
    Entry{"pageable-copies", "使用可分页内存拷贝", "从可分页内存拷贝占循环 {copy_share:%} 的时间",
          "设置 pin_memory=True。"},
    Entry{"copies-not-overlapped", "拷贝与计算没有重叠",
          "GPU 有 {open_share:%} 的时间只在拷贝，仅 {hidden_fraction:%} 的拷贝与计算重叠",
          "使用 non_blocking=True 和独立的流。"},
    Entry{"compute-bound", "受计算限制",
          "循环只有 {wait_fraction:%} 的时间在等待数据|，GPU 有 {kernel_share:%} 的时间在计算",
          "数据不是瓶颈，应优化训练步。"},
    Entry{"kernel-launch-bound", "受 GPU 内核启动限制",
          "批次已就绪，GPU 仍有 {idle_share:%} 的时间空闲",
          "合并小的 GPU 内核，例如使用 CUDA Graphs。"},
    Entry{"trainer-starved", "训练进程得不到 CPU",
          "批次已就绪而核心占满，GPU 有 {idle_share:%} 的时间空闲",
          "为训练进程留出核心：减少工作进程，或降低其优先级。"},
    Entry{"preprocessing-on-busy-gpu", "繁忙的 GPU 上还在做预处理",
          "GPU 有 {kernel_share:%} 的时间忙碌，其中 {preparing_share:%} 用于准备图片",
          "把解码或增强移回 CPU 工作进程。"},
    Entry{"pin-thread-behind", "锁页线程得不到执行",
          "等待时间的 {ready_share_of_wait:%} 中，批次其实已经就绪",
          "减少训练步中的 Python 工作，或在 collate 中锁页。"},
    Entry{"rank-imbalance", "各 rank 不均衡",
          "rank {rank:n} 有 {wait_fraction:%} 的时间在等待数据，中位 rank 为 "
          "{median_wait_fraction:%}",
          "为最慢的 rank 提供更多资源。"},
    Entry{"ranks-exceed-host", "各 rank 的工作进程超过主机所能承受",
          "{ranks:n} 个 rank 共有 {workers:n} 个工作进程|，而主机可用核心为 {usable_cores:n} 个",
          "按主机而不是按 rank 计算：减少每个 rank 的 num_workers。"},
};

std::string FigureText(std::string_view kind, double value) {
  if (kind == "%") return analyzer::PercentText(value);
  if (kind == "s") return analyzer::DurationText(value);
  if (kind == "B") return analyzer::BytesText(static_cast<std::uint64_t>(std::max(value, 0.0)));
  return kind == "x" ? fmt::format("{:.1f}", value) : fmt::format("{:.3g}", value);
}

// "" where a figure is missing.
std::string Clause(std::string_view text, const analyzer::Finding& finding) {
  std::string clause;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    clause += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const std::size_t colon = name.find(':');
    const double* value = nullptr;
    for (const auto& [key, one] : finding.evidence) {
      if (key == name.substr(0, colon)) value = std::get_if<double>(&one);
    }
    if (value == nullptr) return "";
    clause += FigureText(name.substr(colon + 1), *value);
    text.remove_prefix(close + 1);
  }
  return clause;
}

std::string SeenText(std::string_view text, const analyzer::Finding& finding) {
  std::string seen;
  while (!text.empty()) {
    const std::string_view clause = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(clause.size() + 1, text.size()));
    const std::string said = Clause(clause, finding);
    if (seen.empty() && said.empty()) return "";  // the first one is the sentence
    seen += said;
  }
  return seen;
}

}  // namespace

FindingText TextOf(const analyzer::Finding& finding, Language language) {
  if (language == Language::kChinese) {
    for (const Entry& entry : kChinese) {
      if (entry.id != finding.id) continue;
      const std::string seen = SeenText(entry.seen, finding);
      return {std::string(entry.title), seen.empty() ? finding.title : seen + "。",
              std::string(entry.action)};
    }
  }
  return {Typeset(finding.title), "", finding.action};
}

std::string_view TitleOfRule(std::string_view id, Language language) {
  if (language == Language::kEnglish) return id;
  for (const Entry& entry : kChinese) {
    if (entry.id == id) return entry.title;
  }
  return id;
}

}  // namespace penstock::gui
