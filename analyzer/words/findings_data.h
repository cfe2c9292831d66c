// SPDX-License-Identifier: Apache-2.0
//
// Findings about reading, decoding, transforms and batches: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kTransferCeiling{
    "transfer-ceiling.seen",
    "[thread?the pin thread|the loop] spends {each_s:ms.1} ms on receiving each batch: at most "
    "{ceiling_per_s:count} [samples?samples|batches]/s",
    "接收一个批次耗时 {receive_s:duration}，每秒至多 {ceiling_per_s:3g}。"};
inline constexpr Message kFewerTensors{
    "transfer-ceiling.do",
    "Return a few large tensors from collate_fn instead of many arrays or Python objects, uint8 "
    "instead of float32, and use one loader per GPU process. The prediction is for handing over "
    "that costs nothing.",
    "减小批次数据，例如传递 uint8。"};

inline constexpr Message kCollateSlow{
    "collate-slow.seen", "collating takes {collate_share:%0} of the time of making a batch",
    "合批占制作批次时间的 {collate_share:percent}。"};
inline constexpr Message kSimplerCollate{
    "collate-slow.do",
    "Return tensors or arrays of equal shape instead of Python objects, and stack them in one "
    "call; avoid nested dictionaries. The prediction is for a collate that costs nothing.",
    "简化 collate_fn，或预先分配批次内存。"};

inline constexpr Message kSlowStorage{
    "slow-storage.seen",
    "reads come at {bytes_per_s:MB.0} MB/s each and take {read_share:%0} of the workers' time",
    "每次读取的速度为 {bytes_per_s:bytes}/s，占工作进程 {read_share:percent} 的时间。"};
inline constexpr Message kFasterStorage{
    "slow-storage.do",
    "Copy the dataset to a local SSD or to memory, or store it smaller (better compressed, or "
    "resized once). The prediction is for reads that cost nothing.",
    "将数据移到更快的存储，或增加并行读取。"};

inline constexpr Message kSerialisedReads{
    "serialised-reads.seen",
    "reads of different workers never overlap: they take turns, {reading_alone:%0} of the time one "
    "reads",
    "不同工作进程的读取从不重叠，{reading_alone:percent} 的时间只有一个在读。"};
inline constexpr Message kOpenInEachWorker{
    "serialised-reads.do",
    "Open the file in each worker, at its first use and not in the constructor (an HDF5 handle "
    "that was forked is shared, and HDF5 has one lock per process); take no lock around reads; or "
    "convert to a format that is read without a lock.[predicted? The prediction is for reads that "
    "take as long as now, but no turns.]",
    "在每个工作进程中各自打开文件，读取时不加锁。"};

inline constexpr Message kColdCache{
    "cold-cache.seen",
    "reading a batch took {first_epoch_read_s:ms.1} ms in the first epoch, {later_read_s:ms.1} ms "
    "later",
    "首个 epoch 每批读取耗时 {first_epoch_read_s:duration}，之后为 {later_read_s:duration}。"};
inline constexpr Message kWarmCache{
    "cold-cache.do",
    "Do not judge or tune by the first epoch. If epochs are few, read the dataset once beforehand "
    "(for example with cat or vmtouch), or keep it on faster storage.",
    "重复运行，或预先读入数据。"};

inline constexpr Message kSmallFiles{
    "small-files.seen", "files of {bytes_per_file:kB.0} kB take {read_s:ms.1} ms each to read",
    "文件平均 {bytes_per_file:bytes}，每个读取需 {read_s:duration}。"};
inline constexpr Message kPackFiles{
    "small-files.do",
    "Pack the files into large ones that are read in sequence (tar shards, WebDataset, LMDB), or "
    "copy them to local storage. The prediction is for reads that cost nothing.",
    "把样本打包成大文件。"};

inline constexpr Message kFitsInRam{
    "fits-in-ram.seen",
    "{dataset_bytes:GB2g} GB are read anew in every epoch; half of the memory is {room_bytes:GB2g} "
    "GB",
    "每个 epoch 都重新读取 {dataset_bytes:bytes}，内存的一半为 {room_bytes:bytes}。"};
inline constexpr Message kKeepInRam{
    "fits-in-ram.do",
    "[own?Pass --ram-cache {mebibytes:count}m.|[shm?Copy it once: cp -r {root:text} /dev/shm/, and "
    "read it from there.|Keep it in the page cache: vmtouch -tl {root:text}.]]",
    "把数据集放入内存或 tmpfs。"};

inline constexpr Message kSlowDecoder{
    "slow-decoder.seen", "Pillow's decoding takes {decode_share:%0} of the workers' time",
    "Pillow 解码占工作进程 {decode_share:percent} 的时间。"};
inline constexpr Message kFasterDecoder{
    "slow-decoder.do",
    "Decode with OpenCV, simplejpeg or torchvision.io straight into an array or tensor; going back "
    "through PIL images would eat the gain.",
    "换用更快的解码器（OpenCV 或 libjpeg-turbo）。"};

inline constexpr Message kDecodeLarger{
    "decode-larger-than-needed.seen",
    "{decoded_bytes:MB.1} MB are decoded for a sample of {sample_bytes:MB.2} MB",
    "为 {sample_bytes:bytes} 的样本解码了 {decoded_bytes:bytes}。"};
inline constexpr Message kDecodeSmaller{
    "decode-larger-than-needed.do",
    "Decode at reduced size (PIL: image.draft(); OpenCV: IMREAD_REDUCED_COLOR_2), decode only the "
    "crop, or store the images smaller once.",
    "使用缩小解码，或离线缩小图片。"};

inline constexpr Message kRepeatedWork{
    "repeated-work.seen",
    "{epochs:count} epochs repeat {repeated_share:%0} of the workers' time with the same outcome",
    "{epochs:3g} 个 epoch 中，工作进程 {repeated_share:percent} 的时间重复得到相同的结果。"};
inline constexpr Message kStoreOnce{
    "repeated-work.do",
    "[all?No transform of this run leaves anything to chance: store the finished samples once (an "
    "array file, LMDB, tar) and read those.|Store the images once as they leave {transforms:text}, "
    "and drop it from the transforms.]",
    "把可一次完成的处理移到离线阶段。"};

inline constexpr Message kNormalizeOnCpu{
    "normalize-on-cpu.seen",
    "converting to floating point takes {share_of_fetch:%0} of the workers' time[, and "
    "{floating_share_of_batch:%0} of a batch's bytes are of it]",
    "转换为浮点数占工作进程 {share_of_fetch:percent} 的时间[，占批次字节的 "
    "{floating_share_of_batch:percent}]。"};
inline constexpr Message kNormalizeOnGpu{
    "normalize-on-cpu.do",
    "Keep samples uint8 through collate and copy, and convert and normalise on the GPU: x = "
    "x.to(device, non_blocking=True).float().sub_(mean).div_(std).",
    "传递 uint8，在设备上归一化。"};

inline constexpr Message kWideLabels{
    "wide-labels.seen",
    "{int64_bytes:MB.1} of {batch_bytes:MB.1} MB of a batch are 64-bit integers",
    "批次的 {batch_bytes:bytes} 中有 {int64_bytes:bytes} 是 64 位整数。"};
inline constexpr Message kNarrowLabels{
    "wide-labels.do",
    "Keep masks and labels uint8 (or int16) in the dataset and call .long() on the device. The "
    "prediction is the most that can be had.",
    "用更窄的整数类型保存标签或掩码。"};

}  // namespace penstock::analyzer::words
