// SPDX-License-Identifier: Apache-2.0
//
// Messages of the plan: its changes, their costs and risks, and how far the plan gets.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kPlanWorkers{
    "plan.num-workers",
    "[torch?num_workers={to:count}|{to:count worker}] instead of {from:count}[, "
    "prefetch_factor={prefetch:count}]",
    "[torch?num_workers={to:count}|{to:count} 个工作进程]，原为 "
    "{from:count}[，prefetch_factor={prefetch:count}]"};
inline constexpr Message kPlanPrefetch{
    "plan.prefetch-factor",
    "[torch?prefetch_factor={to:count}|prefetch {to:count}] instead of {from:count}",
    "[torch?prefetch_factor={to:count}|预取 {to:count}]，原为 {from:count}"};
inline constexpr Message kPlanPersistent{"plan.persistent-workers",
                                         "persistent_workers=True: the workers stay between epochs",
                                         "persistent_workers=True：工作进程跨 epoch 保留"};
inline constexpr Message kPlanMalloc{
    "plan.malloc",
    "[pillow?start the run with PILLOW_BLOCKS_MAX=16|[allocator?start the run without "
    "{allocator:text} as its allocator|start the run with MALLOC_MMAP_THRESHOLD_=33554432 "
    "MALLOC_TRIM_THRESHOLD_=268435456]]",
    "[pillow?启动时设置 PILLOW_BLOCKS_MAX=16|[allocator?启动时不使用分配器 "
    "{allocator:text}|启动时设置 MALLOC_MMAP_THRESHOLD_=33554432 "
    "MALLOC_TRIM_THRESHOLD_=268435456]]"};
inline constexpr Message kPlanLoopOfPython{
    "plan.python-loop", "replace the loop in {function:text} by array operations, or compile it",
    "用数组运算代替 {function:text} 中的循环，或编译它"};
inline constexpr Message kPlanCall{"plan.slow-call",
                                   "call something faster than {call:text} in {function:text}",
                                   "在 {function:text} 中用更快的方法代替 {call:text}"};
inline constexpr Message kPlanFrames{"plan.fewer-frames",
                                     "decode fewer video frames that are not used",
                                     "减少解码后未被使用的视频帧"};
inline constexpr Message kPlanSlowSamples{
    "plan.slow-samples",
    "[changes?find what stops workers during {slow:count sample}|make the {slow:count} slow "
    "samples as fast as the median]",
    "[changes?找出使工作进程在 {slow:count} 个样本中停顿的原因|使 {slow:count} "
    "个慢样本达到中位数的速度]"};
inline constexpr Message kPlanInOrder{
    "plan.in-order", "in_order=False: take batches in the order in which they are finished",
    "in_order=False：按完成的先后取用批次"};
inline constexpr Message kPlanPin{
    "plan.pin-memory",
    "[own?device=\"cuda\": the loader copies|pin_memory=True, and copy with non_blocking=True]",
    "[own?device=\"cuda\"：由加载器拷贝|pin_memory=True，并以 non_blocking=True 拷贝]"};
inline constexpr Message kPlanDraft{
    "plan.draft", "decode at a half of the size or less: Image.draft(), IMREAD_REDUCED_COLOR_2",
    "以一半或更小的尺寸解码：Image.draft()、IMREAD_REDUCED_COLOR_2"};
inline constexpr Message kPlanCache{
    "plan.ram-cache", "keep the data set in memory[ ({bytes:bytes})]: a copy of it in a tmpfs",
    "把数据集放入内存[（{bytes:bytes}）]，例如复制到 tmpfs"};
inline constexpr Message kPlanTransfer{
    "plan.transfer-u8",
    "deliver pixels as uint8; convert and normalise them [device?on the device|in the training "
    "loop]",
    "以 uint8 交付像素，[device?在 GPU 上|在训练循环中]转换与归一化"};
inline constexpr Message kPlanDecoder{
    "plan.decoder",
    "decode with {wanted:text} instead of {recorded:text} (published: {ratio:.2} times as fast, "
    "{low:.2} to {high:.2})",
    "用 {wanted:text} 代替 {recorded:text} 解码（公开测量：速度为原来的 {ratio:.2} 倍，{low:.2} 至 "
    "{high:.2}）"};
inline constexpr Message kPlanLoop{
    "plan.transforms-in-workers",
    "transform each sample in the workers instead of the batch in the training loop",
    "在工作进程中逐样本变换，不在训练循环中逐批变换"};
inline constexpr Message kPlanApart{
    "plan.reads-apart", "open the file in each worker, so that their reads need not take turns",
    "在每个工作进程中各自打开文件，使读取不必排队"};
inline constexpr Message kPlanPack{"plan.pack",
                                   "pack the files into large ones that are read in order",
                                   "把小文件打包成按顺序读取的大文件"};
inline constexpr Message kPlanStore{
    "plan.store-once", "store what comes out the same in every epoch once, and read that",
    "把每个 epoch 结果相同的部分存储一次，之后直接读取"};
inline constexpr Message kPlanResize{
    "plan.stored-size",
    "store the pictures once more, their longer side at most {side:count} pixels",
    "重新存储图片，长边不超过 {side:count} 像素"};
inline constexpr Message kPlanGpuAugment{"plan.gpu-augment", "augment on the GPU",
                                         "在 GPU 上做数据增强"};
inline constexpr Message kPlanGpuDecode{"plan.gpu-decode", "decode and augment on the GPU",
                                        "在 GPU 上解码并做数据增强"};

// How a change affects the data that the network gets.
inline constexpr Message kRiskDecoder{
    "plan.risk.decoder", "changes what the network sees: pixels differ by a few levels",
    "会改变网络的输入：像素值相差几个灰度级"};
inline constexpr Message kRiskSmaller{
    "plan.risk.smaller", "changes what the network sees: pictures of fewer pixels, resampled twice",
    "会改变网络的输入：图片像素更少，经过两次重采样"};
inline constexpr Message kRiskResampling{
    "plan.risk.resampling",
    "changes what the network sees: another implementation rounds and resamples differently",
    "会改变网络的输入：不同实现的舍入与重采样不同"};
inline constexpr Message kRiskRounding{
    "plan.risk.rounding",
    "if transforms work on floats, rounding to uint8 changes the pixels slightly",
    "若变换作用于浮点数，舍入到 uint8 会使像素略有变化"};
inline constexpr Message kRiskRandom{
    "plan.risk.random",
    "changes what the network sees: random numbers are drawn for each sample, not for a batch",
    "会改变网络的输入：随机数按样本抽取，而非按批次抽取"};

inline constexpr Message kRiskOrder{
    "plan.risk.order", "changes what the network sees: batches come in another order in each run",
    "会改变网络的输入：每次运行的批次顺序不同"};

inline constexpr Message kPlanNow{"plan.now", "now", "现在"};
inline constexpr Message kPlanBase{"plan.base", "[whole?of the whole run|steady]",
                                   "[whole?全程|稳定]"};
inline constexpr Message kPlanCeiling{
    "plan.ceiling", "the training step alone[copies?, with the copies that are left]",
    "仅训练步[copies?（含余下的拷贝）]"};
inline constexpr Message kPlanHere{"plan.limited",
                                   "limited by {factor:name}[also? and {also:name} alike]",
                                   "受限于{factor:name}[also?与{also:name}（相当）]"};
inline constexpr Message kPlanThen{"plan.then",
                                   "then limited by {factor:name}[also? and {also:name} alike]",
                                   "之后受限于{factor:name}[also?与{also:name}（相当）]"};
inline constexpr Message kPlanThenNone{"plan.then-none", "then nothing holds it back by 5 %",
                                       "之后没有环节拖慢 5 % 以上"};
inline constexpr Message kPlanStairName{"plan.stair", "{number:count}. {id:text}",
                                        "第 {number:count} 步", "id"};
// A step with its risk, and its rate.
inline constexpr Message kPlanChange{
    "plan.change",
    "{change:words}[ ({risk:words})][with_next?; gains only together with the next step]",
    "{change:words}[（{risk:words}）][with_next?；只有与下一步一起才有收益]"};
inline constexpr Message kPlanRate{
    "plan.rate",
    ": {rate:rate} {unit:words} ({low:rate}..{high:rate}), {speedup:times}x; {limit:words}",
    "：{rate:rate} {unit:words}（{low:rate} 至 {high:rate}），{speedup:times}x；{limit:words}"};
inline constexpr Message kPlanWithNext{"plan.with-next", "gains only together with the next step",
                                       "只有与下一步一起才有收益"};
// Names the workers and the memory only if they are not those of the run before the step.
inline constexpr Message kPlanCostIs{
    "plan.cost",
    "cost: [lines?about {lines:count line} of code|no line of code][, {workers:count worker}]"
    "[, RAM [rough?about ]{ram:bytes}[before? instead of {before:bytes}] [batches?for "
    "batches[cached? and the "
    "data set| alone]|for workers[cached?, batches and the data set| and batches]]][same?, workers "
    "and memory stay][, disk {disk:bytes}]",
    "代价：[lines?约 {lines:count} 行代码|无需改代码][，{workers:count} "
    "个工作进程][，[batches?[cached?批次和数据集的内存|仅批次的内存]|工作进程[cached?、批次和数据集"
    "|和批次]的内存] [rough?约 ]{ram:bytes}[before?（原为 {before:bytes}）]]"
    "[same?，工作进程和内存不变][，磁盘 {disk:bytes}]"};

inline constexpr Message kPlanAtLimit{
    "plan.at-limit",
    "Nothing to do: the training step is the limit. Data that cost nothing would gain "
    "{gain:percent}",
    "无需改动：训练步即上限。若数据不耗时，收益也只有 {gain:percent}"};
// Which changes the search has left out.
inline constexpr Message kPlanOfSeveral{
    "plan.of-several",
    "decoder, picture size, cache, pixel format and device were not examined: changes of these are "
    "predicted only for a loop over one loader, and this loop takes batches of several in turn",
    "未考查解码器、图片尺寸、缓存、像素格式和设备：这些改动只能对单加载器循环预测，而此循环轮流从"
    "多个加载器取批次"};
// `crowded`: the search has left out other numbers of workers.
inline constexpr Message kPlanNothing{
    "plan.nothing",
    "No change that this trace can predict gains more than its own uncertainty[crowded?; other "
    "numbers of workers were left out, since they gain only while other programs go on using the "
    "cores]. Data that cost nothing would make the run [least?at least ]{headroom:times} times "
    "as fast[open?. {open:sentence}]",
    "此跟踪能预测的改动，收益均未超出自身的不确定度[crowded?；未考虑其他工作进程数，因为其收益只在"
    "其他程序继续占用核心时成立]；若数据不耗时，速度[least?至少]可达原来的 {headroom:times} "
    "倍[open?。{open:sentence}]"};
inline constexpr Message kPlanEnds{
    "plan.ends",
    "With [one?this change|the whole plan] the run is predicted to be {gain:times} times as "
    "fast[left?; data that cost nothing would make that [least?at least ]{left:times} "
    "times as fast again|; then the training step is the limit][open?. {open:sentence}]",
    "做完[one?此项改动|整个计划]后，预计速度为原来的 {gain:times} "
    "倍[left?；若数据不耗时，还可在此基础上提高到[least?至少] "
    "{left:times} 倍|，此时训练步即上限][open?。{open:sentence}]"};
// How far some chosen steps get.
inline constexpr Message kPlanChosen{
    "plan.chosen",
    "With the chosen steps the run is predicted to be {gain:times} times as fast[left?; data that "
    "cost nothing would make that [least?at least ]{left:times} times as fast again][open?. "
    "{open:sentence}]",
    "做完所选步骤后，预计速度为原来的 {gain:times} 倍[left?；若数据不耗时，还可在此基础上提高到"
    "[least?至少] {left:times} 倍][open?。{open:sentence}]"};
inline constexpr Message kPlanChosenNoRoom{
    "plan.chosen-no-room", "The chosen steps together need more memory than there is",
    "所选步骤合起来所需的内存超出可用内存"};
inline constexpr Message kPlanNoneChosen{"plan.none-chosen", "No step is chosen", "未选择任何步骤"};
inline constexpr Message kPlanEndsOpen{
    "plan.ends-open",
    "With the whole plan the run is predicted to be {gain:times} times as fast; it does hardly "
    "anything but load data, so there is no ceiling[open?. {open:sentence}]",
    "做完整个计划后，预计速度为原来的 {gain:times} "
    "倍；除加载数据外几乎没有其他工作，因此没有上限[open?。{open:sentence}]"};
inline constexpr Message kPlanNothingOpen{
    "plan.nothing-open",
    "No change that this trace can predict gains more than its own uncertainty; the run does "
    "hardly anything but load data[open?. {open:sentence}]",
    "此跟踪能预测的改动，收益均未超出自身的不确定度；除加载数据外几乎没有其他工作[open?。{open:"
    "sentence}]"};
inline constexpr Message kPlanInBrief{
    "plan.brief",
    "{change:words}: predicted {gain:times}x[; {more:count step} more of the plan: {all:times}x]",
    "{change:words}：预计速度为原来的 {gain:times} 倍[；再做计划中其余 {more:count} "
    "步：{all:times} 倍]"};
// The place of a finding in the plan. `further`: the step changes more than the finding predicts.
inline constexpr Message kPlanHasIt{
    "plan.has-it",
    "Step {step:count} of the plan [further?is a stronger form of|answers] this: with "
    "[first?it|the "
    "steps up to it] the run reaches {rate:rate} {unit:words} ({gain:times}x)",
    "计划的第 {step:count} "
    "步[further?是此项更彻底的做法|解决此问题]：做完[first?该步|到该步为止的各步]后达到 "
    "{rate:rate} {unit:words}（{gain:times} 倍）"};
inline constexpr Message kPlanLeavesOut{
    "plan.leaves-out",
    "The plan leaves it out: [steps?on top of its steps|by itself] it would gain "
    "[more?{more:percent}[steps? more][unsure?, but the prediction may be off by "
    "{unsure:percent}]|nothing]",
    "计划未列入此项：[steps?完成计划各步后|单独执行]，[more?预计还可[steps?再]提高 "
    "{more:percent}[unsure?，而该预测的误差可达 {unsure:percent}]|[steps?不再|没]有收益]"};
inline constexpr Message kPlanCannotAdd{
    "plan.cannot-add",
    "The plan leaves it out: [excluded?its steps do the same or rule it out|[remedied?with it the "
    "run would not fit into memory, or cannot be predicted|the trace does not tell what it gains "
    "together with other changes; make it and record again]]",
    "计划未列入此项：[excluded?计划各步已包含此项或与之不能并用|[remedied?"
    "采用后内存不足，或无法预测|"
    "跟踪不足以说明它与其他改动合起来的收益；改动后请重新录制]]"};
inline constexpr Message kNoPlan{"plan.none", "no plan. {why:sentence}",
                                 "没有计划。{why:sentence}"};

inline constexpr Message kPlanTitle{"plan.title", "Plan", "计划"};

}  // namespace penstock::analyzer::words
