// SPDX-License-Identifier: Apache-2.0
//
// Texts of the plan in the overview and of the panels below it, in the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_PLAN_TEXTS(X) \
  X(kPlan, "Plan", "计划") \
  X(kPlanAsItIs, "As it is", "现状") \
  X(kPlanStepAlone, "The training step alone, if data cost nothing", "仅训练步（数据不耗时）") \
  X(kPlanStepAndCopies, "The training step alone, with the copies that are left", "仅训练步（含余下的拷贝）") \
  X(kPlanOthersGoOn, "other programs go on", "其他程序继续占用核心") \
  X(kPlanWaitsForRanks, "with its waiting for ranks", "含等待其他 rank") \
  X(kPlanLimitedBy, "limited by {}", "受限于{}") \
  X(kPlanThenLimitedBy, "then limited by {}", "之后受限于{}") \
  X(kPlanAlike, "{} and {} alike", "{}与{}（相当）") \
  X(kPlanStair, "{}. {}", "{}. {}") \
  X(kPlanLeftOut, "left out", "不做这一步") \
  X(kPlanSwitchTip, "Leave this step out, or put it back. The other steps are then predicted anew.", \
    "去掉这一步或将其恢复，其余各步随后会重新预测。") \
  X(kPlanCopyTip, "Copies the line that makes this change, with those before it:", \
    "复制做到这一步的代码行：") \
  X(kPlanBarTip, \
    "The bar is the predicted rate with all steps up to this one, the thin line its interval. It is green if the step gains more than the error of the prediction.", \
    "条形为做到这一步的预测速率，细线为其区间。收益超出预测误差时为绿色。") \
  X(kPlanBeyond, "The bar is cut: it would be {} times as long.", "条形已截断：实际长度为 {} 倍。") \
  X(kPlanEachAlone, "Each change and each part by itself", "单独看每项改动与每个环节") \
  X(kMoreChanges, "and {} more: {}", "另有 {} 项：{}") \
  X(kHandoverPut, "handover: put", "交接：入队") \
  X(kBesideTip, "passes beside the worker's next batch, so the time at the left does not count it", \
    "与工作进程生成下一批次同时进行，左侧的时间不含此项") \
  X(kHandoverGet, "handover: get", "交接：出队") \
  X(kCpuAtLeast, "CPU at least {} of {} cores", "CPU 使用至少 {} / {} 核") \
  X(kWaitingForCore, "{} of it waiting for a core", "其中 {} 在等核心") \
  X(kAtMost, "at most {}", "至多 {}") \
  X(kPredictedAtMost, "Predicted by itself: at most {} {}", "单独改动的预测：至多 {} {}") \
  X(kStepAndRest, "step, with the rest of the loop", "训练步（含循环其余部分）") \
  X(kWaitBeforeGet, "wait before get", "出队前的等待") \
  X(kCopyCall, "copy to GPU: call", "拷贝到 GPU：调用") \
  X(kOnCore, "time on a core", "占用核心的时间") \
  X(kOnCoreTip, "on a core: {}; the rest waits, for a core or for something else", "占用核心：{}；其余时间在等待核心或其他事情") \
  X(kEachSample, "{} each sample", "每个样本 {}") \
  X(kEachImage, "{} each image", "每张图像 {}") \
  X(kRibbonOfSample, "One sample on its way", "一个样本的历程") \
  X(kRibbonOfImage, "One image on its way", "一张图像的历程") \
  X(kLoopMakesData, "makes its data", "生成数据") \
  X(kRestOfLoop, "rest of the loop", "循环其余部分") \
  X(kEachSteadyBatch, "{} each batch, steady part", "每批 {}（稳定阶段）") \
  X(kEachOfAllBatches, "{} a batch, epoch gaps left out", "每批 {}（全部平均，不含 epoch 间隔）") \
  X(kBottleneckTip, \
    "Bottleneck: the run gains most if this part cost nothing. A longer part may only wait for a core, or pass while others work.", \
    "瓶颈：此环节若不耗时，运行加速最多。更长的环节可能只是在等核心，或与其他工作同时进行。") \
  X(kLoopOverTime, "The training loop over time", "训练循环随时间的变化") \
  X(kLoopWaiting, "of its time waiting for data", "等待数据的时间占比")
// clang-format on
