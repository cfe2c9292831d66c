// SPDX-License-Identifier: Apache-2.0
//
// Texts of the timeline's menus and of the panel below its rows, in the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_TIMELINE_TEXTS(X) \
  /* Menu of the right button */ \
  X(kMenuZoomSpan, "Zoom to it", "缩放到此记录") \
  X(kMenuSelectSpan, "Select its time", "选择其时间") \
  X(kMenuSelectBatch, "Select the time of batch {}", "选择批次 {} 的时间") \
  X(kMenuFindBatch, "Find all spans of batch {}", "查找批次 {} 的全部记录") \
  X(kMenuFindSample, "Find all spans of sample {}", "查找样本 {} 的全部记录") \
  X(kMenuFindName, "Find spans of this name", "查找同名记录") \
  X(kMenuCopyName, "Copy its name", "复制名称") \
  X(kMenuCopyFile, "Copy the path of its file", "复制文件路径") \
  X(kMenuHideStage, "Hide {}", "隐藏 {}") \
  X(kMenuShowStages, "Show all stages", "显示全部阶段") \
  X(kMenuNote, "Keep as a note", "保存为标注") \
  X(kMenuPin, "Pin this row at the top", "将此行固定在顶部") \
  X(kMenuUnpin, "Unpin this row", "取消固定此行") \
  X(kMenuFold, "Fold this process", "折叠此进程") \
  X(kMenuUnfold, "Unfold this process", "展开此进程") \
  X(kMenuFoldOthers, "Fold the other processes", "折叠其他进程") \
  X(kMenuFoldMachine, "Fold the counters of the machine", "折叠整机计数器") \
  X(kMenuUnfoldMachine, "Unfold the counters of the machine", "展开整机计数器") \
  X(kMenuFoldProcesses, "Fold the processes", "折叠各进程") \
  X(kMenuZoomSelection, "Zoom to the selection", "缩放到选区") \
  X(kMenuSelectionSums, "Show its sums", "显示选区合计") \
  X(kMenuSelectionStages, "Show its stages in detail", "查看选区的各阶段") \
  X(kMenuCopyTimes, "Copy its times", "复制起止时间") \
  X(kMenuClear, "Clear the selection", "清除选区") \
  X(kMouseRightClick, "right click", "右键单击") \
  X(kKeyQuotes, "in the search: a name exactly as typed", "搜索时：按原文匹配名称") \
  X(kKeyMenu, "menu of a span, a row, the selection", "记录、行、选区的菜单") \
  /* Names of processes and counters */ \
  X(kExperiment, "experiment: all but {} takes {} times as long", "实验：除{}外，其余耗时为 {} 倍") \
  X(kExperimentAll, "experiment: everything takes {} times as long", "实验：全部耗时为 {} 倍") \
  X(kH2dMeans, "h2d: copies from the host to the GPU", "拷贝到 GPU：从主机到 GPU 的拷贝") \
  X(kCopyMeans, "copy: the other copies: from the GPU, within it or between GPUs, and setting memory", \
    "其他拷贝：从 GPU 拷出、GPU 内部或 GPU 之间的拷贝，以及显存赋值") \
  X(kCallMeans, "call: calls of the program to CUDA, such as launching a kernel", \
    "调用：程序对 CUDA 的调用，例如启动内核") \
  X(kSyncMeans, "sync: the program waits for the GPU", "同步等待：程序等待 GPU") \
  X(kStagesOfDevice, "h2d: copies to the GPU; the view GPU has the other copies and the calls to CUDA", \
    "拷贝到 GPU：从主机到 GPU 的拷贝；其他拷贝与对 CUDA 的调用见 GPU 视图") \
  X(kLegendExperiment, "experiment", "实验") \
  X(kLegendExperimentTip, "record --probe slowed a part of the run down in these windows.", \
    "在这些窗口中，record --probe 放慢了运行的一部分。") \
  X(kStagesProbed, "includes windows in which experiments slowed the run down", "含实验放慢运行的窗口") \
  X(kByName, "{} (by name)", "{}（按名称）") \
  X(kTraining, "training", "训练") \
  X(kLaneBackward, "backward pass (autograd)", "反向传播（autograd）") \
  X(kLaneStreamOfRank, "GPU of rank {}, stream {}", "rank {} 的 GPU，流 {}") \
  X(kOfRank, "rank {}: {}", "rank {}：{}") \
  X(kEpochN, "epoch {}", "epoch {}") \
  /* The chosen span */ \
  X(kSpanInside, "inside", "位于") \
  X(kSpanContains, "contains", "包含") \
  X(kSpanRead, "read for it", "为其读取") \
  X(kSpanDecoded, "decoded", "解码后") \
  X(kSpanMoreFiles, "{}  and {} more", "{}  等，另有 {} 个") \
  X(kGoToSpanTip, "Click: go to this span", "单击：跳到此记录") \
  X(kTimeOfSample, "Time of the sample, as in the report", "样本的时间构成（与报告一致）") \
  X(kTimeOfFetch, "Time of the batch's making, as in the report", "批次生成的时间构成（与报告一致）") \
  X(kAugmentNamed, "{} ({} named transforms, {} the rest)", "{}（具名变换 {}，其余 {}）") \
  X(kAugmentRest, "{} (the rest, without a name)", "{}（其余部分，未具名）") \
  X(kAugmentTip, \
    "Augmenting is everything that a sample does besides reading, decoding and tokenizing. The timeline draws its named transforms; the rest has no span of its own.", \
    "增强是样本中除读取、解码与分词以外的一切。时间线只绘制其中具名的变换，其余没有自己的记录。") \
  X(kWayOfBatch, "Batch {} from index to delivery: {}", "批次 {} 从索引到交付：{}") \
  X(kWayQueue, "queued", "排队") \
  X(kWayQueueTip, "Its indices wait for a worker", "索引等待工作进程") \
  X(kWayMade, "made", "生成") \
  X(kWayMadeTip, "A worker, or the loop itself, makes it", "由工作进程或循环自身生成") \
  X(kWayHandover, "handed over", "交接") \
  X(kWayHandoverTip, "It is put into the queue of finished batches", "放入已完成批次的队列") \
  X(kWayReady, "ready", "就绪") \
  X(kWayReadyTip, "It is ready, and the loop has not asked for it yet", "已就绪，循环尚未索取") \
  X(kWayTaken, "taken", "取走") \
  X(kWayTakenTip, "The loop takes it from the queue", "循环从队列中取走") \
  X(kPartLongest, "{} {}, longest", "{} {}，最长") \
  /* The visible window */ \
  X(kDragHint, \
    "Drag to select, right click for a menu, Ctrl+wheel to zoom, W A S D to move, F1 for all keys", \
    "拖动选择，右键打开菜单，Ctrl+滚轮缩放，W A S D 移动，F1 查看全部按键") \
  X(kInView, "{} in view", "当前视图 {}") \
  X(kMeanWhole, "mean, of whole spans", "均值（完整记录）") \
  X(kTableHide, "Hide (Q)", "隐藏（Q）") \
  X(kTableShow, "Times in view (Q)", "视图内耗时（Q）") \
  X(kPanelShow, "Show the panel (Q)", "显示面板（Q）") \
  X(kTableCommand, "Timeline: times in view, by stage", "时间线：当前视图各阶段的时间")
// clang-format on
