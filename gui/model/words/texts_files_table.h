// SPDX-License-Identifier: Apache-2.0
//
// Texts for opening, comparing, sweeping and exporting, for views with nothing to show, and for the
// rows of the timeline; some texts of the what-if view. In the form of texts_table.h.
#pragma once

#define PENSTOCK_FILE_TEXTS(X)                                                                     \
  /* Sweep */                                                                                      \
  X(kSweep, "Sweep", "参数扫描")                                                                   \
  X(kSweepNone, "No sweep is open", "尚未打开扫描结果")                                            \
  X(kSweepHow,                                                                                     \
    "A sweep measures a run under many settings. Open the JSON file that it wrote, or drop it on " \
    "this window.",                                                                                \
    "参数扫描在多组设置下测量同一程序的运行。打开它写出的 JSON 文件，或将其拖到此窗口。")          \
  X(kSweepMake, "No sweep yet? Make one:", "还没有扫描结果？先运行一次：")                         \
  X(kSweepIsOpen, "A sweep is open: {}", "已打开扫描结果：{}")                                     \
  X(kShowSweep, "Show the sweep", "查看扫描结果")                                                  \
  X(kOpenSweep, "Open a sweep", "打开扫描结果")                                                    \
  X(kAxisWorkers, "workers", "工作进程")                                                           \
  X(kAxisPrefetch, "prefetch", "预取")                                                             \
  X(kAxisBatch, "batch", "批大小")                                                                 \
  X(kAxisPin, "pinned memory", "锁页内存")                                                         \
  X(kAxisPersistent, "persistent workers", "常驻工作进程")                                         \
  X(kListComma, ", ", "、")                                                                        \
  X(kAcross, "across", "横轴")                                                                     \
  X(kDown, "down", "纵轴")                                                                         \
  X(kSweepBest, "Best: {} with {} ({} to {} in {} runs)",                                          \
    "最佳：{}，{}（{} 至 {}，共 {} 次运行）")                                                      \
  X(kSweepBestOnce, "Best: {} with {} (a single run)", "最佳：{}，{}（仅运行一次）")               \
  X(kSweepCheaper, "{} reaches {} of it and costs less: the better choice",                        \
    "{} 达到其 {}，且开销更小：更好的选择")                                                        \
  X(kSweepNoCheaper, "No cheaper setting comes within {} of it",                                   \
    "没有更省的设置与其差距在 {} 以内")                                                            \
  X(kSweepTied, "cannot be told from the best: {} more", "与最佳无法区分：另有 {} 组")             \
  X(kSweepNear, "slower, but within {} of it: {} more", "较慢，但差距在 {} 以内：另有 {} 组")      \
  X(kSweepNoBest, "The sweep names no best setting", "此扫描未给出最佳设置")                       \
  X(kSweepNothing, "No setting was measured", "没有测得任何设置的结果")                            \
  X(kSweepDearest, "The most expensive step is {}: it adds {} a sample, {} of the whole",          \
    "开销最大的步骤是 {}：每个样本增加 {}，占全部的 {}")                                           \
  X(kSweepNoStep, "No step adds time that can be told from noise",                                 \
    "没有任何步骤增加可与噪声区分的时间")                                                          \
  X(kSweepCells, "{} of {} settings measured", "已测 {} / {} 组设置")                              \
  X(kSweepRuns, "runs each: {}", "每组运行 {} 次")                                                 \
  X(kSweepMachine, "{} cores, {}", "{} 核，{}")                                                    \
  X(kSweepFailed, "{} failed", "{} 组失败")                                                        \
  X(kSweepUnavailable, "{} not possible here", "{} 组在本机不可用")                                \
  X(kSweepInterrupted, "interrupted, {} not measured", "已中断，{} 组未测")                        \
  X(kSweepPending, "{} not measured", "{} 组未测")                                                 \
  X(kSweepMap, "Throughput, samples/s", "吞吐量，样本/秒")                                         \
  X(kSweepCurves, "Throughput against {}, samples/s", "吞吐量随{}变化，样本/秒")                   \
  X(kSweepSpread, "bars: slowest to fastest run", "竖线：最慢至最快一次")                          \
  X(kSweepAllRuns, "All settings", "全部设置")                                                     \
  X(kSweepSteps, "What each step costs", "各步骤的开销")                                           \
  X(kSweepMoreCurves, "{} more in the table", "另有 {} 条见表格")                                  \
  X(kColumnRate, "samples/s", "样本/秒")                                                           \
  X(kColumnSpread, "slowest – fastest", "最慢 – 最快")                                             \
  X(kColumnRange, "range", "范围")                                                                 \
  X(kColumnOfBest, "of the best", "相对最佳")                                                      \
  X(kColumnFirst, "first batch", "首批耗时")                                                       \
  X(kColumnPerSample, "a sample", "每样本")                                                        \
  X(kColumnIncrement, "adds", "增加")                                                              \
  X(kColumnNote, "note", "备注")                                                                   \
  X(kColumnSetting, "setting", "设置")                                                             \
  X(kCellPending, "not measured", "未测")                                                          \
  X(kCellFailed, "failed: {}", "失败：{}")                                                         \
  X(kCellUnavailable, "not possible here: {}", "本机不可用：{}")                                   \
  X(kCellAsGood, "as good", "同样好")                                                              \
  X(kCellNear, "slower, within {}", "较慢，差距在 {} 以内")                                        \
  X(kCellWithinNoise, "not told apart ({} runs)", "与最佳无法区分（{} 次运行）")                   \
  X(kCellWithinNoiseTip,                                                                           \
    "Its fastest run is as fast as the slowest run of the best setting, or its median is within "  \
    "{} of the best median.",                                                                      \
    "其最快一次运行不慢于最佳设置最慢的一次，或其中位数与最佳相差不到 {}。")                       \
  X(kCellBest, "best", "最佳")                                                                     \
  X(kCellSuggested, "suggested", "建议")                                                           \
  X(kCellRuns, "each run", "各次运行")                                                             \
  X(kCellHint, "Click a cell for its figures", "单击单元格查看数值")                               \
  X(kOpenItsTrace, "Open its trace", "打开其跟踪文件")                                             \
  X(kCompareWithBest, "Compare with the best", "与最佳比较")                                       \
  X(kNoTraceKept, "No trace kept; penstock sweep --keep FOLDER -- COMMAND keeps them",             \
    "未保留跟踪文件；penstock sweep --keep 文件夹 -- 命令 可保留")                                 \
  X(kSweepUnreadable, "{}: {}", "{}：{}")                                                          \
  X(kSweepEmptyFile, "{}: the file is empty", "{}：文件为空")                                      \
  X(kSweepTooLarge, "{}: too large for a sweep", "{}：文件过大，不是扫描结果")                     \
  X(kSweepNotJson, "{}: damaged, or cut off: not complete JSON",                                   \
    "{}：已损坏或被截断：不是完整的 JSON")                                                         \
  X(kSweepNoSchema, "{}: JSON, but not of penstock sweep --json",                                  \
    "{}：是 JSON，但不是 penstock sweep --json 的输出")                                            \
  X(kSweepForeign, "{}: holds {}, not a sweep; penstock sweep --json writes one",                  \
    "{}：内容是 {}，不是扫描结果；请用 penstock sweep --json 生成")                                \
  X(kSweepNewer, "{}: written by a newer Penstock ({}); update this one",                          \
    "{}：由更新版本的 Penstock 写出（{}），请升级")                                                \
  X(kSweepDamaged, "{}: damaged: {} is missing or wrong", "{}：已损坏：{} 缺失或有误")             \
  X(kSweepNoCells, "{}: the sweep holds no settings", "{}：此扫描不含任何设置")                    \
  /* Compare */                                                                                    \
  X(kCompare, "Compare", "对比")                                                                   \
  X(kCompareNone, "Compare two recordings", "比较两次录制")                                        \
  X(kCompareHow,                                                                                   \
    "Open a second trace: what became faster or slower, and whether it is more than noise.",       \
    "打开第二个跟踪文件：哪里变快、哪里变慢，以及差异是否超出噪声。")                              \
  X(kCompareMake, "To record the program again, after a change:", "修改程序后再录制一次：")        \
  X(kOpenToCompare, "Open to compare", "打开并比较")                                               \
  X(kSwap, "Swap", "互换")                                                                         \
  X(kComparing, "Comparing ...", "正在比较……")                                                     \
  X(kCannotCompare, "These two cannot be compared.", "这两个文件无法比较。")                       \
  X(kFaster, "B is {} % faster than A (95 %: {} to {} %)", "B 比 A 快 {} %（95 %：{} 至 {} %）")   \
  X(kSlower, "B is {} % slower than A (95 %: {} to {} %)", "B 比 A 慢 {} %（95 %：{} 至 {} %）")   \
  X(kTimesAsFast, "B is {} times as fast as A (95 %: {} to {})",                                   \
    "B 的速度是 A 的 {} 倍（95 %：{} 至 {}）")                                                     \
  X(kNoDifference, "No difference beyond noise: B runs at {} of A (95 %: {} to {})",               \
    "差异未超出噪声：B 的速度为 A 的 {}（95 %：{} 至 {}）")                                        \
  X(kTooFewToTell, "Too few batches to tell: both need 16 in their steady part",                   \
    "批次太少，无法判断：双方的稳定阶段都需要 16 个批次")                                          \
  X(kDifferentPrograms, "A and B are different programs ({}, {}): their ratio is no gain or loss", \
    "A 与 B 是不同的程序（{}、{}）：两者之比不代表收益或损失")                                     \
  X(kRatesOfBoth, "A runs at {}, B at {} {}", "A 为 {}，B 为 {} {}")                               \
  X(kStageWaited,                                                                                  \
    "{} rose from {} to {} a sample, though it computes no longer: it waited for cores",           \
    "{}由每样本 {} 升至 {}，但计算时间没有增加：在等待 CPU 核心")                                  \
  X(kStageFell, "{} fell from {} to {} a sample", "{}由每样本 {} 降至 {}")                         \
  X(kStageRose, "{} rose from {} to {} a sample", "{}由每样本 {} 升至 {}")                         \
  X(kStageChangeTip, "{}: {} → {}, {} ({} – {}, 95 %): {}",                                        \
    "{}：{} → {}，{}（{} – {}，95 %）：{}")                                                        \
  X(kWaitFell, "waiting for data fell from {} to {} of the loop",                                  \
    "等待数据由循环时间的 {} 降至 {}")                                                             \
  X(kWaitRose, "waiting for data rose from {} to {} of the loop",                                  \
    "等待数据由循环时间的 {} 升至 {}")                                                             \
  X(kInsteadOf, "{} {} instead of {}", "{} 为 {}，原为 {}")                                        \
  X(kClauseComma, "; ", "；")                                                                      \
  X(kSteadyBatches, "{} steady batches", "稳定批次 {}")                                            \
  X(kTimeOfASample, "Time of one sample, by stage", "各阶段每样本耗时")                            \
  X(kBottleneckTitle, "Bottleneck", "瓶颈")                                                        \
  X(kUnchanged, "unchanged", "未变")                                                               \
  X(kMoved, "has moved", "已转移")                                                                 \
  X(kTimesRange, "×{} ({} to {}, 95 %)", "×{}（{} 至 {}，95 %）")                                  \
  X(kPointsRange, "{} points ({} to {}, 95 %)", "{} 个百分点（{} 至 {}，95 %）")                   \
  X(kChange, "change", "变化")                                                                     \
  X(kChangeInterval, "95 % interval", "95 % 区间")                                                 \
  X(kBeyondNoise,                                                                                  \
    "Bold: a larger change than between two runs of one program. Times are sums of all threads.",  \
    "加粗数值：超出同一程序两次运行的差异。时间为所有线程之和。")                                  \
  X(kLess, "less", "减少")                                                                         \
  X(kMore, "more", "增加")                                                                         \
  X(kNotTold, "too few batches to tell", "批次太少，无法判断")                                     \
  X(kWithinNoise, "within noise", "噪声之内")                                                      \
  X(kOfTwoPrograms, "of two programs: neither better nor worse", "两个不同的程序，不作优劣比较")   \
  X(kSettingsDiffer, "Settings that differ", "不同的设置")                                         \
  X(kSameSettings, "The same settings in both", "双方设置相同")                                    \
  X(kFindingsChanged, "Findings", "发现")                                                          \
  X(kFindingGone, "only A", "仅 A")                                                                \
  X(kFindingNew, "only B", "仅 B")                                                                 \
  X(kFindingsOfOne,                                                                                \
    "Reported for one run only: the other may have it too, below what is reported.",               \
    "仅在一方的报告中：另一方可能也有，只是未达到报告的阈值。")                                    \
  X(kFindingsSame, "{} in both: {}", "另有 {} 项两者都有：{}")                                     \
  X(kNoFindingChange, "No finding came or went", "各项发现没有变化")                               \
  X(kPut, "put", "入队")                                                                           \
  X(kGet, "get", "出队")                                                                           \
  X(kPinning, "pinning", "锁页")                                                                   \
  X(kSettingKind, "loader", "加载器")                                                              \
  X(kSettingStart, "start method", "启动方式")                                                     \
  X(kSettingDataset, "samples in the dataset", "数据集样本数")                                     \
  X(kSettingCores, "usable cores", "可用核心")                                                     \
  X(kSettingCommand, "command", "命令")                                                            \
  X(kSettingOrder, "in order", "保持顺序")                                                         \
  X(kYes, "yes", "是")                                                                             \
  X(kNo, "no", "否")                                                                               \
  X(kUnknownValue, "not known", "未知")                                                            \
  /* Nothing to show */                                                                            \
  X(kNothingRecorded, "Nothing was recorded.", "没有录制到任何内容。")                             \
  X(kNothingRecordedWhy,                                                                           \
    "Penstock saw the program read no data, decode nothing, and take no batches from a loader.",   \
    "Penstock 没有看到程序读取数据、解码，或从加载器获取批次。")                                   \
  X(kSeeWhatIsSeen, "To learn what can be seen of a program:", "查看程序的哪些活动可见：")         \
  X(kNoLoader, "No loader was recorded.", "没有录制到加载器。")                                    \
  X(kNoLoaderWhy,                                                                                  \
    "This view is about the batches of a DataLoader, or of another loader that Penstock knows.",   \
    "此视图显示 DataLoader 或 Penstock 支持的其他加载器的批次。")                                  \
  X(kRecordLoader, "To record a run with a DataLoader:", "录制一次使用 DataLoader 的运行：")       \
  X(kRecordAgain, "To record again:", "重新录制的命令：")                                          \
  X(kLoadThroughLoader,                                                                            \
    "Load the data through torch.utils.data.DataLoader with num_workers=2, then record again:",    \
    "请先改用 torch.utils.data.DataLoader（num_workers=2）加载数据，再重新录制：")                 \
  X(kRecordMaking, "A recording of Penstock's own holds how batches are made:",                    \
    "Penstock 自己的录制包含批次的生成过程：")                                                     \
  X(kMeasureSettings, "To measure other settings:", "测量其他设置：")                              \
  X(kNoLoaderIn, "{} holds no batches of a loader: record a run with a DataLoader.",               \
    "{} 中没有加载器的批次：请录制使用 DataLoader 的运行。")                                       \
  /* Rows of the timeline */                                                                       \
  X(kLaneMain, "main", "主线程")                                                                   \
  X(kLaneThread, "thread {}", "线程 {}")                                                           \
  X(kLaneFeeder, "queue feeder", "队列发送线程")                                                   \
  X(kLanePin, "pin thread", "锁页线程")                                                            \
  X(kLaneStream, "GPU {} stream {}", "GPU {} 流 {}")                                               \
  /* What-if */                                                                                    \
  X(kTimesWholeRun, "{} of the whole run", "全程 {}")                                              \
  X(kRatesOfWholeRun, "All rates are of the whole run, start-up included.",                        \
    "速率均按全程计，含启动。")                                                                    \
  X(kNoGainLess, "No setting of the loader gains. About as fast with less:",                       \
    "没有能提速的加载器设置。用更少资源速度相近：")                                                \
  X(kNoGainSure, "No setting gains more than the error of the prediction. The best one:",          \
    "没有收益超出预测误差的设置。最好的一个：")                                                    \
  X(kBeyondSettings, "Beyond the loader's settings", "加载器设置之外")                             \
  X(kHowMadeUnknown, "how batches are made was not recorded", "批次的生成过程未被录制")            \
  /* Opening and exporting */                                                                      \
  X(kOpenDots, "Open ...", "打开……")                                                               \
  X(kOpenCompareDots, "Open to compare ...", "打开并比较……")                                       \
  X(kOpenMenuTip, "Recent files (Ctrl+R), comparing", "最近文件（Ctrl+R） 与比较")                 \
  X(kNoRecent, "No recent files", "没有最近文件")                                                  \
  X(kExport, "Export", "导出")                                                                     \
  X(kMoreViews, "More views", "更多视图")                                                          \
  X(kExportTip, "Pictures, tables, the report (Ctrl+E)", "图片、表格与报告（Ctrl+E）")             \
  X(kExportPicture, "This view as a picture (PNG)", "当前视图的图片（PNG）")                       \
  X(kExportReport, "The report as a page (HTML)", "报告网页（HTML）")                              \
  X(kExportStages, "Stages (CSV)", "阶段表（CSV）")                                                \
  X(kExportWorkers, "Workers (CSV)", "工作进程表（CSV）")                                          \
  X(kExportFindings, "Findings (CSV)", "发现表（CSV）")                                            \
  X(kExportSelection, "Selected range by stage (CSV)", "选区按阶段汇总（CSV）")                    \
  X(kExportWhatIf, "What-if curve (CSV)", "假设分析曲线（CSV）")                                   \
  X(kExportSweep, "Sweep (CSV)", "参数扫描表（CSV）")                                              \
  X(kExportCompare, "Comparison (CSV)", "对比表（CSV）")                                           \
  X(kSaveAs, "Save as", "另存为")                                                                  \
  X(kSave, "Save", "保存")                                                                         \
  X(kReplaces, "The file exists and will be replaced.", "文件已存在，将被替换。")                  \
  X(kNoSuchFolder, "There is no such folder.", "文件夹不存在。")                                   \
  X(kSaved, "Saved {}", "已保存 {}")                                                               \
  X(kNotSaved, "Not saved: {}", "未保存：{}")                                                      \
  X(kCopyCommand, "Copy the command that opens this view", "复制打开当前视图的命令")               \
  X(kCommandCopied, "Copied: {}", "已复制：{}")                                                    \
  X(kNotInTrace, "Not in this trace: {}", "此跟踪文件中没有：{}")                                  \
  X(kChoosing, "Choose a file in the other window ...", "请在另一窗口中选择文件……")                \
  X(kKeyExport, "export: menu, picture, report", "导出：菜单、图片、报告")                         \
  X(kKeyOpen, "open; open to compare; recent files", "打开；打开并比较；最近文件")
