// SPDX-License-Identifier: Apache-2.0
//
// The English is that of analyzer/whatif/grid.cc, changes.cc, diagnosis.cc, analyzer/report/
// html_data.cc, compare.cc and coverage.cc, with {} for each value; the Chinese names the values by
// their order.
#include "gui/model/phrase_texts.h"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace penstock::gui {
namespace {

struct Phrase {
  std::string_view english;
  std::string_view chinese;
};

constexpr std::array kPhrases = {
    // Notes of a prediction.
    Phrase{
        "other programs competed for the cores while this was recorded, and are taken to go on, "
        "as {} threads; --alone predicts without them",
        "录制时有其他程序争用核心，假定它们继续占用 {0} 个线程；命令行选项 --alone 可去除其影响"},
    Phrase{"the model repeats the recorded run with an error of {} %",
           "模拟复现此次运行的误差为 {0} %"},
    Phrase{"the simulation repeats the recorded run with an error of {} %",
           "模拟复现此次运行的误差为 {0} %"},
    Phrase{"nothing was handed over between processes in this recording: {} ms a batch on both "
           "sides and {} ns a byte are assumed, and no memory of the workers' own",
           "此次录制中进程间没有交接：假定双方每批 {0} 毫秒、每字节 {1} "
           "纳秒，且工作进程自身不占内存"},
    Phrase{"per sample, everything but the step is taken to cost what it does now",
           "除训练步外，假定每个样本的耗时与现在相同"},
    Phrase{"per sample, everything is taken to cost what it does now, the step too; give {} if you "
           "know better",
           "假定每个样本的全部耗时与现在相同，包括训练步；已知训练步耗时可在左侧设定"},
    Phrase{"pinning is taken to copy at {} GB/s, and the copy to the device to stay as it is",
           "假定锁页拷贝的速度为 {0} GB/s，到 GPU 的拷贝保持不变"},
    Phrase{"the copy to the device is taken to stay as it is", "假定到 GPU 的拷贝保持不变"},
    Phrase{"the recorded step was too short to tell what it computes: a longer one is taken to "
           "wait, as for a GPU; {} says otherwise",
           "录制的训练步太短，无法判断其计算量：更长的训练步视为在等待（例如等 GPU）"},
    Phrase{"reads of different workers never overlapped: they are taken to wait for a lock that "
           "each holds for {} ms a sample",
           "不同工作进程的读取从未重叠：假定它们在等待同一把锁，每个样本占用 {0} 毫秒"},
    Phrase{"reads slowed each other down: they are taken to share {} MB/s",
           "读取互相拖慢：假定它们共享 {0} MB/s"},
    Phrase{"reads are taken not to slow each other down: {} MB/s came together at most, and "
           "nothing shows what the storage gives; {} says it",
           "假定读取互不拖慢：合计最多 {0} MB/s，存储的上限未知"},
    Phrase{"no CPU times were recorded: that cores are shared is not seen",
           "未录制 CPU 时间：看不到核心是否被共享"},
    Phrase{"the step grows by {} ms a sample on {}, {} % of it overlapped; workers hand over files",
           "在 {1} 上，训练步每个样本增加 {0} 毫秒，其中 {2} % 被重叠；工作进程交付文件"},
    Phrase{"the step grows by {} ms a sample on {}, {} % of it overlapped; workers hand over "
           "decoded pictures",
           "在 {1} 上，训练步每个样本增加 {0} 毫秒，其中 {2} % 被重叠；工作进程交付解码后的图像"},
    Phrase{"decoding on the device: {}", "GPU 解码的依据：{0}"},
    Phrase{"augmenting on the device: {}", "GPU 增强的依据：{0}"},
    // What a recording lacks.
    Phrase{"not enough: needs the batches of a loader{}, and none was seen",
           "数据不足：需要加载器的批次，而此次没有看到"},
    Phrase{"{}: not enough: needs the batches of a loader{}, and none was seen",
           "{0}：数据不足，需要加载器的批次，而其中没有看到"},
    Phrase{"not enough: needs a run of the loader, and this one was recorded with --fixed-batch{}",
           "数据不足：需要加载器正常工作的录制，而此次使用了 --fixed-batch，始终重复同一批次"},
    Phrase{"not enough: needs loaders that are used one after the other{}",
           "数据不足：需要依次使用的加载器，而此循环轮流从多个加载器取批次，模拟不支持；请用 "
           "penstock sweep "
           "测量其他设置"},
    Phrase{"not enough: needs 16 batches of one loader in a row, and has {}",
           "数据不足：需要同一加载器连续 16 个批次，现有 {0} 个"},
    Phrase{"not enough: needs threads that make whole samples; stages with threads of their own "
           "({}) are not simulated",
           "数据不足：需要由线程制作完整样本；无法模拟各阶段使用独立线程的情形（{0}）"},
    Phrase{"not enough: needs to know what each batch was made of and when, which {} does not tell",
           "数据不足：需要知道每个批次由什么组成、何时制作，而 {0} 不提供"},
    Phrase{"not enough: needs to see batches being made, and most were made out of sight",
           "数据不足：需要看到批次的制作过程，而多数不可见"},
    Phrase{"not enough: needs 16 batches after the queues have filled, and has {}; record {} more",
           "数据不足：队列填满后需要 16 个批次，现有 {0} 个，请再多录制 {1} 个"},
    Phrase{"not enough: needs a run that the {} explains, and on this one it is off by {} %: {}",
           "数据不足：需要模拟能够解释的运行，而此次相差 {1} "
           "%：有记录缺失，或循环中有模拟未考虑的行为"},
    Phrase{"not enough: needs the sizes of decoded pictures, and none was seen",
           "数据不足：需要解码后图像的尺寸，而此次没有看到"},
    // What a plot lacks.
    Phrase{"No loader delivered batches while this was recorded.", "录制期间没有加载器交付批次。"},
    Phrase{"There are no workers: a batch is made when the loop asks for it, and nothing queues.",
           "没有工作进程：批次在循环请求时才制作，没有排队。"},
    Phrase{"It was not seen when most batches were finished.", "多数批次的完成时刻不可见。"},
    Phrase{"No batch was seen being handed to the training loop.", "没有看到批次被交给训练循环。"},
    Phrase{"The batches took no time.", "这些批次没有耗时。"},
    Phrase{"Neither the size of a batch nor the memory of a worker was recorded.",
           "既没有录制批次大小，也没有录制工作进程的内存。"},
};

// Coverage::blind, up to the colon that ends them there.
constexpr std::array kLibraries = {
    Phrase{"JPEG 2000 decoding on the GPU ({})", "GPU 上的 JPEG 2000 解码（{0}）"},
    Phrase{"JPEG decoding on the GPU ({})", "GPU 上的 JPEG 解码（{0}）"},
    Phrase{"image decoding on the GPU ({})", "GPU 上的图像解码（{0}）"},
    Phrase{"video decoding on the GPU ({})", "GPU 上的视频解码（{0}）"},
    Phrase{"video decoding ({})", "视频解码（{0}）"},
    Phrase{"reads straight into GPU memory ({})", "直接读入显存（{0}）"},
    Phrase{"asynchronous reads ({})", "异步读取（{0}）"},
    Phrase{"HEIF decoding ({})", "HEIF 解码（{0}）"},
    Phrase{"AVIF decoding ({})", "AVIF 解码（{0}）"},
    Phrase{"TIFF decoding ({})", "TIFF 解码（{0}）"},
    Phrase{"JPEG 2000 decoding ({})", "JPEG 2000 解码（{0}）"},
    Phrase{"JPEG XL decoding ({})", "JPEG XL 解码（{0}）"},
    Phrase{"NVIDIA DALI: its operators are known by its NVTX ranges only",
           "NVIDIA DALI（只能通过 NVTX 区间了解其算子）"},
    Phrase{"simplejpeg: it carries libjpeg-turbo inside itself",
           "simplejpeg（内置 libjpeg-turbo）"},
    Phrase{"TensorFlow: of what its threads do, reads and JPEG and PNG decoding are seen",
           "TensorFlow（其线程中只能看到读取以及 JPEG、PNG 解码）"},
};

// The values in the places of {}, each as short as what follows it allows; none where `text` is
// another sentence.
std::optional<std::vector<std::string_view>> ValuesIn(std::string_view text,
                                                      std::string_view pattern) {
  std::vector<std::string_view> values;
  std::size_t place = pattern.find("{}");
  if (!text.starts_with(pattern.substr(0, place))) return std::nullopt;
  if (place == std::string_view::npos) {
    return text == pattern ? std::optional(values) : std::nullopt;
  }
  text.remove_prefix(place);
  while (place != std::string_view::npos) {
    pattern.remove_prefix(place + 2);
    place = pattern.find("{}");
    const std::string_view literal = pattern.substr(0, place);
    std::size_t end = text.size();
    if (place != std::string_view::npos) {
      end = text.find(literal);
      if (end == std::string_view::npos) return std::nullopt;
    } else {
      if (!text.ends_with(literal)) return std::nullopt;
      end -= literal.size();
    }
    values.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + literal.size(), text.size()));
  }
  return values;
}

std::string FilledWith(std::string_view chinese, const std::vector<std::string_view>& values) {
  std::string text;
  for (std::size_t i = 0; i < chinese.size(); ++i) {
    const bool place = chinese[i] == '{' && i + 2 < chinese.size() && chinese[i + 2] == '}';
    if (!place) {
      text += chinese[i];
      continue;
    }
    const auto index = static_cast<std::size_t>(chinese[i + 1] - '0');
    if (index < values.size()) text += values[index];
    i += 2;
  }
  return text;
}

std::string Translated(std::span<const Phrase> phrases, std::string_view english) {
  for (const Phrase& phrase : phrases) {
    if (const auto values = ValuesIn(english, phrase.english)) {
      return FilledWith(phrase.chinese, *values);
    }
  }
  return std::string(english);
}

}  // namespace

std::string PhraseText(std::string_view english, Language language) {
  if (language == Language::kEnglish) return std::string(english);
  return Translated(kPhrases, english);
}

std::string LibraryText(std::string_view english, Language language) {
  if (language == Language::kEnglish) return std::string(english);
  return Translated(kLibraries, english);
}

}  // namespace penstock::gui
