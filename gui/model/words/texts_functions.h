// SPDX-License-Identifier: Apache-2.0
//
// Texts of the functions in the stages view, in the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_FUNCTION_TEXTS(X) \
  X(kTabDistribution, "Durations", "耗时分布") \
  X(kTabFunctions, "Functions", "函数") \
  X(kTabTip, "F: switch to the other tab", "F：切换到另一个标签页") \
  X(kFunctionsCommand, "Functions: where the Python time goes", "函数：Python 时间的去向") \
  X(kUnitSample, "A sample", "一个样本") \
  X(kUnitBatch, "Collating a batch", "一次合批") \
  X(kUnitStep, "A step, Python side", "一个训练步（Python 侧）") \
  X(kFollowedSamples, "{} in {} samples, followed call by call", \
    "{}：逐个调用跟踪了 {} 个样本") \
  X(kFollowedBatches, "{} in {} batches, followed call by call", \
    "{}：逐个调用跟踪了 {} 个批次") \
  X(kFollowedSteps, "{} in {} steps, followed call by call", \
    "{}：逐个调用跟踪了 {} 个训练步") \
  X(kUnitFew, "few: others may differ", "数量少，其余可能不同") \
  X(kUnitMean, "mean of all: {}", "全部的平均：{}") \
  X(kUnitUnusual, "slower than usual: the mean of all is {}; shares are of these alone", \
    "比平时慢：全部的平均为 {}；占比仅针对这些") \
  X(kNoSampleFollowed, "no sample could be followed within 0.2 % of the time: record longer", \
    "在 0.2 % 的时间预算内没能跟踪样本：请录制更长时间") \
  X(kUnitTip, "Comma: the tab before; full stop: the next", "逗号：上一个标签页；句号：下一个") \
  X(kUnitOfWorkers, "{} of the time spent making batches", "占生成批次时间的 {}") \
  X(kUnitOfLoop, "{} of the training loop's time", "占训练循环时间的 {}") \
  X(kUnitCoreWait, "times include waiting for a core: {} of the time of all batches", \
    "时间含等待核心：占全部批次时间的 {}") \
  X(kUnitAllSamples, "all samples: {}", "全部样本：{}") \
  X(kUnitSpread, "Following the calls slowed them: the time may be wrong by {}.", \
    "跟踪会拖慢调用：该时间的误差可达 {}。") \
  X(kFlameLibraries, "libraries", "库") \
  X(kFlameCompiled, "compiled (C, C++)", "编译代码（C、C++）") \
  X(kFlameHint, "Click or Enter: zoom in. Home, or the top bar: all of it. Arrows: move.", \
    "单击或 Enter：放大。Home 或顶部横条：全部。方向键：移动。") \
  X(kNamed, "{}: {}", "{}：{}") \
  X(kFlameTotal, "{}, {}: with all it calls", "{}，{}：含其调用") \
  X(kFlameOwn, "{}, {}: in itself", "{}，{}：仅自身") \
  X(kFlameCalls, "{} calls {}", "{} 次调用，{}") \
  X(kFlameGap, "in no recorded call: its own code and waiting for a core", \
    "未记录到调用：自身代码与等待核心") \
  X(kFlameLines, "Lines that take most:", "最耗时的代码行：") \
  X(kColumnFunctionName, "function", "函数") \
  X(kPerSample, "per sample", "每样本") \
  X(kPerBatch, "per batch", "每批次") \
  X(kPerStep, "per step", "每训练步") \
  X(kColumnOwn, "own + libraries", "自身 + 库") \
  X(kColumnOwnTip, "Includes the library functions that it calls, but no other functions of the program", \
    "含其调用的库函数，不含程序的其他函数") \
  X(kColumnAllCalls, "with all it calls", "含其调用") \
  X(kColumnAllCallsTip, "Time between call and return", "从调用到返回的时间") \
  X(kColumnCallCount, "calls", "调用次数") \
  X(kSlowSamplesTab, "Slow samples against the rest", "慢样本与其余样本对比") \
  X(kSlowBatchesTab, "Slow batches against the rest", "慢批次与其余批次对比") \
  X(kSlowStepsTab, "Slow steps against the rest", "慢训练步与其余训练步对比") \
  X(kSlowTip, "S: switch to the other table", "S：切换到另一张表") \
  X(kSlowNote, "{} of {} take more than {} times the median: {} instead of {}. What takes more time in them:", \
    "{} / {} 个耗时超过中位数的 {} 倍：{}，其余为 {}。其中更耗时的是：") \
  X(kSlowColumn, "slow", "较慢") \
  X(kOthersColumn, "others", "其余") \
  X(kMoreColumn, "more", "多出") \
  X(kSourceLineTip, "Line {}: {} {}, entered {} times", "第 {} 行：{} {}，进入 {} 次") \
  X(kSourceLine, "line {}", "第 {} 行") \
  X(kSourceMissing, "The source is not shown: the file is not on this machine.", "无法显示源代码：文件不在本机。") \
  X(kSourceUnreadable, "The source is not shown: the file is here, but has no such lines now or cannot be read.", \
    "无法显示源代码：文件在本机，但现在没有这些行，或无法读取。") \
  X(kSourceChanged, "The file was changed after the run began: lines may have moved.", \
    "文件在运行开始后已更改：代码行可能已移动。") \
  X(kSourceUndated, "The file may have changed since: the trace does not say when the run began.", \
    "文件此后可能已更改：跟踪中没有运行的开始时间。") \
  X(kSourceUnlined, "Its lines were not followed: lines are followed only in the functions that take most time.", \
    "未跟踪其代码行：仅跟踪最耗时函数的代码行。") \
  X(kSourceUnlinedYet, \
    "Its lines were not followed yet: a process follows lines from the second one on that it follows call by call, and none got that far. Record several times as long; workers that end with an epoch begin anew.", \
    "尚未跟踪其代码行：每个进程从其逐个调用跟踪的第二个起才跟踪代码行，此次没有进程达到。请录制数倍时间；随 epoch 结束的工作进程会重新开始。") \
  X(kSourceUnlinedLate, \
    "Its lines were not followed yet: it was not known in time that it takes most. Record longer.", \
    "尚未跟踪其代码行：未能及时得知它最耗时。请录制更长时间。") \
  X(kSourceLinesFrom, "Split among lines: from those followed line by line ({} of {}). The flame graph is of the rest.", \
    "各行的占比来自逐行跟踪的部分（{} / {}），火焰图来自其余部分。") \
  X(kSourceCompiled, "Compiled code: it has no lines of Python.", "编译代码，没有 Python 代码行。") \
  X(kSourceNone, "No function of the program has a part in this.", "此处没有程序自身的函数。") \
  X(kSourceCaller, "calls {}", "调用 {}") \
  X(kNoCalls, "No calls of Python functions were recorded.", "没有记录 Python 函数的调用。") \
  X(kNoCallsShort, \
    "Penstock follows each call of a few samples, collated batches and steps, within 0.2 % of the run's time. This run was too short for one.", \
    "Penstock 会跟踪少数样本、合批与训练步中的每个调用，开销不超过运行时间的 0.2 %。此次运行太短，一个也来不及跟踪。") \
  X(kNoCallsShortHow, "Record half a minute or more:", "请录制半分钟以上：") \
  X(kNoCallsNoLoader, \
    "Penstock follows calls in Python programs with a DataLoader of PyTorch. This run has none: the program or its loader is of another kind.", \
    "Penstock 在使用 PyTorch DataLoader 的 Python 程序中跟踪调用。此次运行中没有这样的程序：程序或其加载器属于其他类型。") \
  X(kNoCallsImported, \
    "This trace was imported. The file that it was made from has no calls of Python functions that Penstock could follow.", \
    "此跟踪由其他程序的文件导入，该文件中没有 Penstock 可跟踪的 Python 函数调用。") \
  X(kNoCallsUnfollowed, \
    "This run has a DataLoader of PyTorch, but none of its calls were followed. Modules of Penstock do that inside Python; an older version has none for it, or Python did not load them.", \
    "此次运行使用了 PyTorch DataLoader，但没有跟踪其调用。跟踪由 Penstock 在 Python 内的模块完成；旧版本没有此功能，或 Python 未加载这些模块。") \
  X(kNoCallsAgain, \
    "Record again with this version; if it follows none either, penstock doctor -- COMMAND says why:", \
    "请用此版本重新录制；若仍没有，penstock doctor -- 命令 会说明原因：") \
  X(kNoCallsTooMany, \
    "Penstock follows each call of a few samples, collated batches and steps, within 0.2 % of the run's time. In this run no sample, batch or step fitted into that: single ones have too many calls, or the workers live too short.", \
    "Penstock 会跟踪少数样本、合批与训练步中的每个调用，开销不超过运行时间的 0.2 %。此次运行中，没有样本、批次或训练步能在该开销内跟踪：单个的调用太多，或工作进程存活时间太短。") \
  X(kNoCallsTooManyHow, "A longer recording has more time for it:", "录制更长时间，可用于跟踪的时间更多：") \
  X(kNoCallsOff, "Following calls was switched off for this run: PENSTOCK_FUNCTIONS=off.", \
    "此次运行关闭了调用跟踪：PENSTOCK_FUNCTIONS=off。") \
  X(kNoCallsOffHow, "Record again without it:", "请去掉该设置后重新录制：") \
  X(kNoCallsPython, \
    "Calls are followed in CPython 3.9 to 3.14, but not in a debug or free-threaded build. This run used another Python.", \
    "仅在 CPython 3.9 至 3.14 中跟踪调用，调试版与无 GIL 版除外。此次运行使用了其他 Python。") \
  X(kNoCallsPythonHow, "To learn what can be seen in an environment:", "查看某一环境中能看到什么：") \
  X(kNoCallsTool, \
    "The program has a debugger, profiler, tracer or coverage of its own, which is left alone.", \
    "程序自带调试器、性能分析器、跟踪或覆盖率工具，为避免干扰而不跟踪。") \
  X(kNoCallsToolHow, "Record again without that tool:", "请关闭该工具后重新录制：") \
  X(kNoCallsHere, "No followed sample begins in the selection.", "选区内没有被跟踪的样本。") \
  X(kNoCallsHereWhy, "One in many is followed: select more, or press Esc for the whole run.", \
    "仅跟踪少数样本：请扩大选区，或按 Esc 恢复为全程。") \
  X(kKeyFunctions, "in Stages: functions, and the flame graph", "阶段视图：函数与火焰图")
// clang-format on
