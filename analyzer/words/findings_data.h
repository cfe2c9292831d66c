// SPDX-License-Identifier: Apache-2.0
//
// Findings about reading, decoding, transforms and batches: what was seen, and what to do.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kTransferCeiling{
    "transfer-ceiling.seen",
    "[thread?the pin thread|the loop] spends {each_s:ms.1} ms receiving each batch, so at most "
    "{ceiling_per_s:count} [samples?samples|batches]/s are possible",
    "接收一个批次耗时 {receive_s:duration}，每秒至多 {ceiling_per_s:3g}。"};
inline constexpr Message kFewerTensors{
    "transfer-ceiling.do",
    "Return a few large tensors from collate_fn instead of many arrays or Python objects, uint8 "
    "instead of float32 (converted on the device; this rounds values that are not whole numbers "
    "from 0 to 255), and use one loader per GPU process. The prediction assumes that the handover "
    "costs nothing.",
    "减小批次数据，例如传递 uint8（在设备上转换；非 0 到 255 的整数会被舍入）。"};

inline constexpr Message kCollateSlow{
    "collate-slow.seen", "collating takes {collate_share:%0} of the time of making a batch",
    "合批占制作批次时间的 {collate_share:percent}。"};
inline constexpr Message kSimplerCollate{
    "collate-slow.do",
    "Return tensors or arrays of equal shape instead of Python objects, and stack them in one "
    "call; avoid nested dictionaries. The prediction assumes a collate that costs nothing.",
    "简化 collate_fn，或预先分配批次内存。"};

inline constexpr Message kTransformsInTheLoop{
    "transforms-in-the-loop.seen",
    "the training loop transforms whole batches itself, on the CPU: {loop_share:%0} of its time",
    "训练循环自己在 CPU 上对整批数据做变换，占其时间的 {loop_share:percent}。"};
inline constexpr Message kTransformInWorkers{
    "transforms-in-the-loop.do",
    "Transform each sample in the dataset, where workers do it beside the step"
    "[ (num_workers={workers:count})]: numbers that were drawn once for a batch are then drawn for "
    "each sample; or transform on the GPU. The prediction assumes that a worker takes as much CPU "
    "time for it as the loop did.",
    "在数据集中对每个样本做变换，由工作进程与训练步并行完成[（num_workers={workers:3g}）]"
    "（原先每批抽取一次的随机数将改为每个样本抽取一次），或在 GPU 上做。"};

inline constexpr Message kSlowStorage{
    "slow-storage.seen",
    "each read runs at {bytes_per_s:bytes}/s, and reading takes {read_share:%0} of the workers' "
    "time",
    "每次读取的速度为 {bytes_per_s:bytes}/s，占工作进程 {read_share:percent} 的时间。"};
inline constexpr Message kFasterStorage{
    "slow-storage.do",
    "Copy the dataset to a local SSD or to memory, or store it smaller: better compressed, or "
    "resized once (both change the pixels, unless the storage is lossless and the transforms "
    "resize to that size anyway). The prediction assumes reads that cost nothing.",
    "将数据移到更快的存储，或把数据存得更小（有损压缩或缩小会改变像素）。"};

inline constexpr Message kSerialisedReads{
    "serialised-reads.seen",
    "reads of different workers never overlap: they take turns, and {reading_alone:%0} of the time "
    "one of them reads",
    "不同工作进程的读取从不重叠，{reading_alone:percent} 的时间只有一个在读。"};
inline constexpr Message kOpenInEachWorker{
    "serialised-reads.do",
    "Open the file in each worker, at its first use and not in the constructor (an HDF5 handle "
    "that was forked is shared, and HDF5 has one lock per process); take no lock around reads; or "
    "convert to a format that is read without a lock.[predicted? The prediction assumes reads that "
    "take as long as now but run side by side.]",
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
    "small-files.seen", "files of {bytes_per_file:bytes} take {read_s:ms.1} ms each to read",
    "文件平均 {bytes_per_file:bytes}，每个读取需 {read_s:duration}。"};
inline constexpr Message kPackFiles{
    "small-files.do",
    "Copy the files to local storage, or pack them into large ones. LMDB still reads samples in "
    "any order; formats that are read in sequence (tar shards, WebDataset) shuffle only within a "
    "buffer. The prediction assumes reads that cost nothing.",
    "把样本打包成大文件：LMDB "
    "仍可任意顺序读取，顺序读取的格式（tar、WebDataset）只在缓冲区内打乱。"};

inline constexpr Message kFitsInRam{
    "fits-in-ram.seen",
    "{dataset_bytes:bytes} are read again in every epoch; half of the memory is {room_bytes:bytes}",
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
    "Decode with {first:text}[ or {second:text}] straight into an array or tensor; converting back "
    "to PIL images would lose the gain. Some pixels then differ by a level or two, "
    "[opencv?OpenCV returns channels as BGR, ]and resizing outside PIL filters differently: use "
    "the same code for validation.",
    "换用更快的解码器（{first:text}[ 或 {second:text}]）；部分像素会相差一两级，[opencv?OpenCV "
    "的通道顺序为 BGR，]缩放的滤波也不同：验证时请一致。"};

inline constexpr Message kDecodeLarger{
    "decode-larger-than-needed.seen",
    "{decoded_bytes:bytes} are decoded for a sample of {sample_bytes:bytes}",
    "为 {sample_bytes:bytes} 的样本解码了 {decoded_bytes:bytes}。"};
inline constexpr Message kDecodeSmaller{
    "decode-larger-than-needed.do",
    "Decode only the crop (the same pixels except at its edge), or decode at reduced size (PIL: "
    "image.draft(); OpenCV: IMREAD_REDUCED_COLOR_2), or store the images smaller once. The last "
    "two filter differently, so the network sees slightly different pixels, in validation too.",
    "只解码裁剪区域（像素不变），或使用缩小解码、离线缩小图片（后两者滤波不同，像素会改变，验证时请"
    "一致）。"};

inline constexpr Message kConnectionsAnew{
    "connection-not-reused.seen",
    "{connections:count connection} were opened for {requests:count request} over HTTP, "
    "{each:duration} each",
    "{requests:count} 个 HTTP 请求打开了 {connections:count} 个连接，每个耗时 {each:duration}。"};
inline constexpr Message kReuseConnections{
    "connection-not-reused.do",
    "Keep one client for each worker and let it keep its connections: a requests.Session (or a "
    "urllib3.PoolManager, a boto3 client, an aiohttp.ClientSession) that is made on first use in "
    "the worker, not for each sample, and read every answer to its end. The prediction "
    "removes only the time to open connections.",
    "每个工作进程保留一个客户端并重用其连接：在工作进程首次使用时创建 requests.Session（或 "
    "urllib3.PoolManager、boto3 "
    "客户端、aiohttp.ClientSession），不要为每个样本新建，并把每个响应读完。"
    "预测只去掉建立连接的时间。"};

inline constexpr Message kFramesUnused{
    "decodes-more-frames-than-used.seen",
    "{decoded:count frame} of video were decoded, and the pixels of {used:count} taken",
    "解码了 {decoded:count} 帧视频，只取用了 {used:count} 帧的像素。"};
inline constexpr Message kFewerFrames{
    "decodes-more-frames-than-used.do",
    "Write the videos once with key frames more often (ffmpeg -g 8), since every frame back to the "
    "key frame before it must be decoded; the files grow. Or take several frames of a clip in one "
    "go, in their order (PyAV: one seek, then decode on; torchcodec and decord: get_frames_at, "
    "get_batch), or only key frames where they will do (PyAV: stream.codec_context.skip_frame = "
    "'NONKEY'). The prediction is for key frames twice as often.",
    "将视频重新编码为更密的关键帧（ffmpeg -g "
    "8，文件会变大），因为必须从前一关键帧开始解码；或按顺序一次"
    "取出一个片段的多帧，或在允许时只取关键帧。预测按关键帧密度加倍计算。"};

inline constexpr Message kRepeatedWork{
    "repeated-work.seen",
    "{epochs:count} epochs repeat {repeated_share:%0} of the workers' time with the same result: "
    "{samples:count sample} compared over {compared_epochs:count} epochs [all?were the same each "
    "time|left {last:text} the same each time]",
    "{epochs:3g} 个 epoch 中，工作进程 {repeated_share:percent} 的时间重复得到相同的结果：在 "
    "{compared_epochs:3g} 个 epoch 中比较了 {samples:3g} 个样本，[all?每次都相同|经 {last:text} "
    "后每次都相同]。"};
inline constexpr Message kStoreOnce{
    "repeated-work.do",
    "[all?Store the finished samples once (an array file, LMDB, tar) and read those: the network "
    "then sees what it sees now, for {pairs:count} comparisons of {samples:count sample} over "
    "{compared_epochs:count} epochs found no difference.|Store the images once as they leave "
    "{last:text}, without loss (JPEG would change the pixels), and drop {transforms:text} from the "
    "transforms: the network then sees what it sees now, for {pairs:count} comparisons of "
    "{samples:count sample} over {compared_epochs:count} epochs found no difference up to there; "
    "what comes after stays as it is.]",
    "[all?把处理完的样本保存一次（数组文件、LMDB、tar），以后直接读取：在 "
    "{compared_epochs:3g} 个 epoch 中对 {samples:3g} 个样本的 {pairs:3g} "
    "次比较没有发现差异，网络看到的数据不变。|把经 {last:text} 后的图像无损保存一次（JPEG "
    "会改变像素），并去掉变换 {transforms:text}：在 {compared_epochs:3g} 个 epoch 中对 "
    "{samples:3g} 个样本的 {pairs:3g} "
    "次比较到此没有发现差异，网络看到的数据不变；之后的变换保持原样。]"};

inline constexpr Message kNormalizeOnCpu{
    "normalize-on-cpu.seen",
    "converting to floating point takes {share_of_fetch:%0} of the workers' time[, and "
    "{floating_share_of_batch:%0} of a batch's bytes are floating point]",
    "转换为浮点数占工作进程 {share_of_fetch:percent} 的时间[，占批次字节的 "
    "{floating_share_of_batch:percent}]。"};
inline constexpr Message kNormalizeOnGpu{
    "normalize-on-cpu.do",
    "Keep samples uint8 through collate and copy, and convert and normalise on the GPU: x = "
    "x.to(device, non_blocking=True).float().sub_(mean).div_(std), with mean and std for 0 to 255. "
    "The network then sees the same values, unless a transform between works on floating point: "
    "its results would be rounded to whole levels.",
    "传递 uint8，在设备上归一化（mean 和 std 按 0 到 255 计）；若其间有浮点变换，"
    "其结果会被舍入，否则数值不变。"};

inline constexpr Message kWideLabels{
    "wide-labels.seen", "{int64_bytes:bytes} of a batch's {batch_bytes:bytes} are 64-bit integers",
    "批次的 {batch_bytes:bytes} 中有 {int64_bytes:bytes} 是 64 位整数。"};
inline constexpr Message kNarrowLabels{
    "wide-labels.do",
    "Keep masks and labels uint8 (or int16) in the dataset and call .long() on the device: the "
    "same values, if all lie from 0 to 255 (or -32768 to 32767). The prediction is an upper bound.",
    "用更窄的整数类型保存标签或掩码；只要数值都在其范围内就不变。"};

}  // namespace penstock::analyzer::words
