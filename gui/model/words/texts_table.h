// SPDX-License-Identifier: Apache-2.0
//
// Texts of the window, in English and Chinese: X(name, english, chinese). {} stands for a value;
// both languages have the same values in the same order (tests/gui/words/texts_test.cc).
#pragma once

#define PENSTOCK_TEXTS(X)                                                                          \
  /* Views and the bar above them */                                                               \
  X(kOverview, "Overview", "概览")                                                                 \
  X(kTimeline, "Timeline", "时间线")                                                               \
  X(kStages, "Stages", "阶段")                                                                     \
  X(kWhatIf, "What-if", "假设分析")                                                                \
  X(kWorkers, "Workers", "工作进程")                                                               \
  X(kOpen, "Open", "打开")                                                                         \
  X(kOpenTip, "Open a trace (Ctrl+O)", "打开跟踪文件（Ctrl+O）")                                   \
  X(kThemeTip, "Light or dark", "浅色或深色")                                                      \
  X(kNoChineseFont, "There is no font with Chinese characters: install fonts-noto-cjk",            \
    "没有中文字体：请安装 fonts-noto-cjk")                                                         \
  X(kLanguageTip, "中文界面", "English interface")                                                 \
  X(kHelpTip, "Keys and mouse (F1)", "键盘与鼠标（F1）")                                           \
  X(kWelcome, "Why does the training wait for data?", "训练为什么在等数据？")                      \
  X(kWelcomeHow, "Open a trace, or drop one on this window.", "打开跟踪文件，或将其拖到此窗口。")  \
  X(kWelcomeRecord, "No trace yet? Record one:", "还没有跟踪文件？先录制一个：")                   \
  X(kRecent, "Recent", "最近打开")                                                                 \
  X(kLoading, "Loading {}", "正在载入 {}")                                                         \
  X(kReadingSpans, "Reading spans: {} %", "正在读取记录：{} %")                                    \
  X(kAnalysing, "Analysing ...", "正在分析……")                                                     \
  X(kCancel, "Cancel", "取消")                                                                     \
  X(kClose, "Close", "关闭")                                                                       \
  X(kCannotOpen, "This file cannot be opened", "无法打开此文件")                                   \
  X(kChooseFile, "Open a trace", "打开跟踪文件")                                                   \
  X(kNoFiles, "No traces in this folder", "此文件夹中没有跟踪文件")                                \
  X(kAllFiles, "All files", "所有文件")                                                            \
  X(kParent, "Parent folder", "上级文件夹")                                                        \
  X(kPreviewOf, "{} of run, {} spans, {} processes", "运行 {}，记录 {} 条，进程 {} 个")            \
  X(kFromAfar, "The whole run", "整个运行")                                                        \
  X(kSpansOfStages, "Recorded spans by stage", "各阶段的记录数")                                   \
  X(kReadingChip, "Reading {} %", "读取中 {} %")                                                   \
  X(kAnalysingChip, "Analysing", "分析中")                                                         \
  X(kCancelTip, "Cancel (Esc)", "取消（Esc）")                                                     \
  X(kLiveNow, "Live {}", "实时 {}")                                                                \
  X(kLivePaused, "Paused at {}", "已暂停于 {}")                                                    \
  X(kPauseTip, "Still being recorded. Click or Space: pause", "正在录制。单击或空格：暂停")        \
  X(kResumeTip, "Still being recorded. Click or Space: go on", "正在录制。单击或空格：继续")       \
  X(kFollowEnd, "Follow the end", "跟随末尾")                                                      \
  X(kFollowTip, "Move to the end and stay there", "移到末尾并保持跟随")                            \
  X(kLiveEnded, "Run has ended", "运行已结束")                                                     \
  X(kLiveEndedTip, "This is the whole trace.", "这是完整的跟踪。")                                 \
  X(kLiveDied, "Recorder was killed", "录制程序被终止")                                            \
  X(kLiveDiedTip, "This is what was on disk. The rest may be rescued: penstock recover {}",        \
    "此处为已写入磁盘的部分。其余或可恢复：penstock recover {}")                                   \
  X(kConfidence, "Confidence in this verdict: {} of 100", "对此结论的置信度：{} / 100")            \
  X(kReplayError, "the simulation repeats the run within {} %", "模拟复现此次运行，误差 {} %")     \
  X(kWaitsForData, "Waits for data", "等待数据")                                                   \
  X(kOfTheLoop, "of the training loop", "占训练循环时间")                                          \
  X(kNotBound, "Not held back by data", "未受数据限制")                                            \
  X(kModeratelyBound, "Somewhat held back by data", "一定程度受数据限制")                          \
  X(kHighlyBound, "Held back by data", "受数据限制")                                               \
  X(kThroughput, "Throughput", "吞吐量")                                                           \
  X(kSamplesPerSecond, "samples/s", "样本/秒")                                                     \
  X(kInterval, "{} to {} (90 %)", "{} 至 {}（90 %）")                                              \
  X(kFreeData, "If data cost nothing", "若数据不耗时")                                             \
  X(kWholeRun, "whole run {}", "全程 {}")                                                          \
  X(kTooLittleToSay, "too little was recorded to say", "录制内容不足，无法判断")                   \
  X(kWorkersTimesPrefetch, "workers × prefetch", "工作进程 × 预取")                                \
  X(kBatchOf, "batch {}", "批大小 {}")                                                             \
  X(kPinned, "pinned", "锁页内存")                                                                 \
  X(kKept, "persistent", "常驻进程")                                                               \
  X(kNothingChecked, "Nothing was recorded that could be checked.", "没有可供检查的内容。")        \
  X(kPredictedOf, "Predicted by itself: {} {}, {}", "单独改动的预测：{} {}，{}")                   \
  X(kWorkersBusy, "Workers busy", "工作进程忙碌")                                                  \
  X(kCpuOfCores, "CPU {} of {} cores", "CPU 使用 {} / {} 核")                                      \
  X(kLoaderMakesItself, "made by the loop itself", "由训练循环自行生成")                           \
  X(kLoader, "Loader", "加载器")                                                                   \
  X(kRibbonTitle, "One batch on its way", "一个批次的历程")                                        \
  X(kMaking, "Made by a worker", "工作进程生成")                                                   \
  X(kMakingSomewhere, "Made", "生成")                                                              \
  X(kMakingAlone, "Made by the loop", "循环自行生成")                                              \
  X(kLoop, "Training loop", "训练循环")                                                            \
  X(kSideBySide, "{} ÷ {} workers = {} a batch", "{} ÷ {} 个工作进程 = 每批 {}")                   \
  X(kEachBatch, "{} each batch", "每批 {}")                                                        \
  X(kBottleneck, "bottleneck", "瓶颈")                                                             \
  X(kNoBatches, "No batches were recorded.", "没有录制到批次。")                                   \
  X(kSuggestion, "Suggestion", "建议")                                                             \
  X(kNow, "Now", "当前")                                                                           \
  X(kPredicted, "Predicted", "预测")                                                               \
  X(kNextBottleneck, "After it: {}", "之后的瓶颈：{}")                                             \
  X(kCopy, "Copy", "复制")                                                                         \
  X(kCopied, "Copied", "已复制")                                                                   \
  X(kMemoryNeeded, "{} of memory", "内存 {}")                                                      \
  X(kFindings, "Findings", "发现")                                                                 \
  X(kNoFindings, "The checks that this recording allows found nothing.",                           \
    "在此录制可检查的内容中没有发现问题。")                                                        \
  X(kShowMe, "Show", "查看")                                                                       \
  X(kIfFree, "If one part cost nothing", "若某一环节不耗时")                                       \
  X(kUnevenBatches, "uneven batches", "批次耗时不均")                                              \
  X(kNothingGains, "No part would gain half a percent if it cost nothing.",                        \
    "任何环节不耗时的收益都不足 0.5 %。")                                                          \
  X(kIncomplete, "Incomplete: {}. All figures are of the recorded part.",                          \
    "数据不完整：{}。所有数值仅来自已录制的部分。")                                                \
  X(kPartlyBlind, "Partly blind: {}.", "部分不可见：{}。")                                         \
  X(kSeen, "Seen: {}", "读取覆盖率：{}")                                                           \
  X(kNotSeen, "Not seen: {}", "不可见：{}")                                                        \
  X(kNothingLost, "Nothing lost", "无丢失")                                                        \
  X(kRead, "read", "读取")                                                                         \
  X(kDecode, "decode", "解码")                                                                     \
  X(kAugment, "augment", "增强")                                                                   \
  X(kTransforms, "named transforms", "有名称的变换")                                               \
  X(kOtherCode, "other code and its waiting", "其他代码及其等待")                                  \
  X(kTokenize, "tokenize", "分词")                                                                 \
  X(kOther, "other", "其他")                                                                       \
  X(kCollate, "collate", "合批")                                                                   \
  X(kHandover, "handover", "交接")                                                                 \
  X(kWait, "wait", "等待")                                                                         \
  X(kWaitForOthers, "wait for other loaders", "等待其他加载器")                                    \
  X(kCopyToGpu, "copy to GPU", "拷贝到 GPU")                                                       \
  X(kStep, "step", "训练步")                                                                       \
  X(kStartup, "start-up", "启动")                                                                  \
  X(kPrefetch, "prefetch", "预取")                                                                 \
  X(kNothing, "none", "无")                                                                        \
  /* Timeline */                                                                                   \
  X(kWorkerN, "worker {}", "工作进程 {}")                                                          \
  X(kTrainingProcess, "training process", "训练进程")                                              \
  X(kProgram, "process", "进程")                                                                   \
  X(kRankN, "rank {}", "rank {}")                                                                  \
  X(kWholeMachine, "All processes", "全部进程")                                                    \
  X(kCpuCores, "CPU, cores", "CPU 核数")                                                           \
  X(kMemory, "Memory", "内存")                                                                     \
  X(kReadyBatches, "Finished batches", "已完成批次")                                               \
  X(kOnlyRange, "Only {} to {}: {} of {}", "仅限 {} 至 {}：{}，全长 {}")                           \
  X(kRangeTip, "The range selected in the timeline. Esc or a click goes back to the whole trace.", \
    "时间线中选定的区间。按 Esc 或单击恢复为整个跟踪。")                                           \
  X(kRangeTooShort,                                                                                \
    "Too few batches in this range to predict from. The whole trace has a suggestion.",            \
    "此区间批次太少，无法预测。请查看整个跟踪的建议。")                                            \
  X(kShowInTimeline, "Show in the timeline", "在时间线中查看")                                     \
  X(kGpuBusy, "GPU busy", "GPU 忙碌")                                                              \
  X(kDiskReads, "Disk reads, libraries too", "磁盘读取（含程序库）")                               \
  X(kLegendTip, "Click: hide or show. Ctrl+click: only this one.",                                 \
    "单击：隐藏或显示。Ctrl+单击：仅显示此项。")                                                   \
  X(kPinTip, "Keep this row at the top (P)", "将此行固定在顶部（P）")                              \
  X(kUnpinTip, "Back to its place (P)", "取消固定（P）")                                           \
  X(kMarks, "Bookmarks and notes", "书签与标注")                                                   \
  X(kNoMarks, "None yet. Ctrl+1 … 9 keeps this view, Shift+M the selection.",                      \
    "暂无。Ctrl+1 … 9 保存当前视图，Shift+M 标注选区。")                                           \
  X(kNoteHint, "What is it?", "说明")                                                              \
  X(kCommandHint, "What to do?", "要做什么？")                                                     \
  X(kNoCommand, "No such command", "没有匹配的命令")                                               \
  X(kGoToLongest, "Go to the longest {}", "跳到最长的 {}")                                         \
  X(kShowOnly, "Show only {}", "仅显示 {}")                                                        \
  X(kFoldAll, "Fold all processes", "折叠全部进程")                                                \
  X(kUnfoldAll, "Unfold all processes", "展开全部进程")                                            \
  X(kSearchHint, "Search: decode, batch 12, >5ms, cat.jpg", "搜索：解码、批次 12、>5ms、cat.jpg")  \
  X(kHits, "{} of {}", "{} / {}")                                                                  \
  X(kNoHits, "nothing found", "未找到")                                                            \
  X(kFit, "Fit", "显示全部")                                                                       \
  X(kFitTip, "Whole trace (0 or Home)", "整个跟踪（0 或 Home）")                                   \
  X(kSelection, "Selection", "选区")                                                               \
  X(kSelectedTime, "{} selected", "已选 {}")                                                       \
  X(kLongest, "longest", "最长")                                                                   \
  X(kCount, "count", "次数")                                                                       \
  X(kTime, "time", "耗时")                                                                         \
  X(kMean, "mean", "均值")                                                                         \
  X(kStage, "stage", "阶段")                                                                       \
  X(kAtOnce, "at once, on average", "平均并行数")                                                  \
  X(kSpanBatch, "batch", "批次")                                                                   \
  X(kSpanSample, "sample", "样本")                                                                 \
  X(kSpanBytes, "bytes", "字节")                                                                   \
  X(kSpanCpu, "CPU time", "CPU 时间")                                                              \
  X(kSpanStart, "start", "开始")                                                                   \
  X(kSpanDuration, "duration", "时长")                                                             \
  X(kSpanFile, "file", "文件")                                                                     \
  X(kSpanUnfinished, "not finished: the process ended in it", "未完成：进程在此期间结束")          \
  X(kSpanError, "failed", "失败")                                                                  \
  X(kSpanDerived, "between two waits of the loop", "循环两次等待之间")                             \
  X(kShare, "share", "占比")                                                                       \
  X(kWall, "wall", "耗时")                                                                         \
  X(kCpu, "CPU", "CPU")                                                                            \
  X(kMedian, "p50", "p50")                                                                         \
  X(kP90, "p90", "p90")                                                                            \
  X(kP99, "p99", "p99")                                                                            \
  X(kDurations, "How long one call of {} takes", "单次耗时分布：{}")                               \
  X(kShareOfCalls, "share of the calls", "占调用次数的比例")                                       \
  X(kInMaking, "{}: share of the time spent making batches", "{}：占生成批次的时间")               \
  X(kInFollowed, "{}: share of the time of those followed alone", "{}：仅占被跟踪者时间的比例")    \
  X(kInLoop, "{}: share of the training loop's time", "{}：占训练循环时间")                        \
  X(kInLoopUnended, "{}: share of the loop's time with its last step, whose end is unknown",       \
    "{}：占训练循环时间（计入未录到结束的最后一步）")                                              \
  X(kInLife, "{}: share of the life of the workers", "{}：占工作进程存活时间")                     \
  X(kInRun, "{}: share of the run, or of the selected time", "{}：占整个运行或所选时间")           \
  X(kBusy, "busy", "忙碌")                                                                         \
  X(kBusyComputing, "busy, computing", "忙碌：计算")                                               \
  X(kBusyWaiting, "busy, waiting (storage, locks, a core)", "忙碌：等待（存储、锁、核心）")        \
  X(kIdle, "idle: waiting for work", "空闲：等待任务")                                             \
  X(kIdleTime, "idle", "空闲")                                                                     \
  X(kLife, "lifetime", "存活期间")                                                                 \
  X(kNumWorkers, "num_workers", "num_workers")                                                     \
  X(kPrefetchFactor, "prefetch_factor", "prefetch_factor")                                         \
  X(kBatchSize, "batch_size", "batch_size")                                                        \
  X(kPinMemory, "pin_memory", "pin_memory")                                                        \
  X(kPersistent, "persistent_workers", "persistent_workers")                                       \
  X(kStepTime, "Step takes", "训练步耗时")                                                         \
  X(kStageSpeed, "Speed of each part", "各环节速度倍数")                                           \
  X(kOnTheGpu, "Done on the GPU, not by workers", "在 GPU 上进行（而非工作进程）")                 \
  X(kOnTheGpuTip,                                                                                  \
    "What a stage costs there is taken from published figures of the GPU; the notes below the "    \
    "curve say which.",                                                                            \
    "GPU 上的耗时取自公开数据；曲线下方的说明列出来源。")                                          \
  X(kReset, "As recorded", "恢复为录制值")                                                         \
  X(kUseSuggestion, "Suggested", "采用建议")                                                       \
  X(kRecordedPoint, "recorded", "录制时")                                                          \
  X(kChosenPoint, "chosen", "所选")                                                                \
  X(kRateOverWorkers, "Throughput over the number of workers", "吞吐量随工作进程数变化")           \
  X(kMemoryBudget, "budget {}", "预算 {}")                                                         \
  X(kMemoryBudgetOfRank, "budget {} for each of {} ranks", "预算 {}（{} 个 rank 各有）")           \
  X(kTooMuchMemory, "does not fit into memory", "超出内存预算")                                    \
  X(kCannotPredictThis, "This cannot be predicted from the recording.",                            \
    "无法根据此次录制预测此项。")                                                                  \
  X(kCannotPredict, "No other setting can be predicted from this recording.",                      \
    "无法根据此次录制预测其他设置。")                                                              \
  X(kKeys, "Keys and mouse", "键盘与鼠标")                                                         \
  X(kKeyZoom, "zoom at the pointer", "以指针为中心缩放")                                           \
  X(kKeyPan, "move left and right", "左右移动")                                                    \
  X(kKeyScroll, "scroll the rows", "滚动行")                                                       \
  X(kWheelZooms, "In the timeline the wheel zooms, and scrolls with Ctrl",                         \
    "在时间线中滚轮缩放，按住 Ctrl 滚动")                                                          \
  X(kWheelScrolls, "In the timeline the wheel scrolls, and zooms with Ctrl",                       \
    "在时间线中滚轮滚动，按住 Ctrl 缩放")                                                          \
  X(kKeyFit, "whole trace", "整个跟踪")                                                            \
  X(kKeyFocus, "zoom to the selection or span", "缩放到选区或记录")                                \
  X(kKeyNext, "next and previous span of the row", "本行的下一条、上一条记录")                     \
  X(kKeyBatch, "along the batch, back and forth", "沿批次前后跳转")                                \
  X(kKeySearch, "search; Enter and Shift+Enter for next and previous",                             \
    "搜索；Enter、Shift+Enter 跳到下一个、上一个")                                                 \
  X(kKeySelect, "select and measure; snaps to edges, except with Alt",                             \
    "选择与测量；自动吸附边缘，按住 Alt 不吸附")                                                   \
  X(kKeyBookmark, "keep, and go to, a bookmark", "保存、跳转书签")                                 \
  X(kKeyFold, "click on a name: fold and unfold", "单击名称：折叠或展开")                          \
  X(kKeyMark, "select the time of the span; keep it as a note", "选择记录的时间；保存为标注")      \
  X(kKeyMarks, "list of bookmarks and notes", "书签与标注列表")                                    \
  X(kKeyLongest, "go to the longest span of the stage", "跳到该阶段最长的记录")                    \
  X(kKeyPin, "pin the row under the pointer at the top", "将指针所在行固定在顶部")                 \
  X(kKeyPanel, "hide or show the panel below", "隐藏或显示下方面板")                               \
  X(kKeyBack, "back to where a jump came from, and forward", "后退到跳转之前、前进")               \
  X(kKeyCommands, "all commands", "全部命令")                                                      \
  X(kKeyClear, "clear selection, search and panels", "清除选区、搜索与面板")                       \
  X(kKeyScale, "larger and smaller", "放大与缩小界面")                                             \
  X(kKeyViews, "change the view", "切换视图")                                                      \
  X(kKeyQuit, "quit", "退出")
