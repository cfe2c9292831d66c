// SPDX-License-Identifier: Apache-2.0
//
// Texts of the what-if view's choices, in the form of texts_table.h.
#pragma once

// clang-format off
#define PENSTOCK_WHATIF_TEXTS(X) \
  X(kAsRecordedChoice, "as recorded", "同录制") \
  X(kRateOfWholeRun, "{} the rate of the whole run", "全程速率的 {}") \
  X(kDataChanges, "Data and storage", "数据与存储") \
  X(kDecoderChoice, "JPEG decoder", "JPEG 解码器") \
  X(kTransferChoice, "Pixels to device", "送往设备的像素") \
  X(kStoredSide, "Stored long side", "存储图片长边") \
  X(kRamCache, "Dataset in memory", "数据集置于内存") \
  X(kPacked, "Small files packed", "小文件打包") \
  X(kFasterDecoder, "Decode with simplejpeg", "用 simplejpeg 解码") \
  X(kPixelsAsBytes, "Pixels as uint8", "以 uint8 交付像素") \
  X(kAugmentOnGpu, "Augment on the GPU", "在 GPU 上做数据增强") \
  X(kDecodeOnGpu, "Decode and augment on the GPU", "在 GPU 上解码并做数据增强") \
  X(kMachine, "Machine", "机器") \
  X(kMachineCores, "Cores", "核心数") \
  X(kMachineSpeed, "Speed of a core", "单核速度") \
  X(kMachineAlone, "Without other programs", "排除其他程序的影响") \
  X(kMemoryOfBatches, "Memory for batches alone", "内存（仅批次）") \
  X(kWorkersMemoryUnknown, "the workers' private memory was not recorded", "未记录工作进程的私有内存") \
  X(kPredictedBand, "predicted; shaded: the model's interval (90 %)", "预测；阴影为模型的区间（90 %）") \
  X(kCopyWhatIf, "Copy command", "复制命令") \
  X(kCopyWhatIfTip, "Copies the command that predicts the same: {}", "复制给出相同预测的命令：{}")
// clang-format on
