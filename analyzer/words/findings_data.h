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
    "[thread?锁页线程|训练循环]接收一个批次耗时 {each_s:ms.1} ms，因此每秒至多 "
    "{ceiling_per_s:count} [samples?个样本|个批次]。"};
inline constexpr Message kFewerTensors{
    "transfer-ceiling.do",
    "Return a few large tensors from collate_fn instead of many arrays or Python objects. Return "
    "uint8 instead of float32 and convert on the device (only whole numbers from 0 to 255 stay "
    "exact). Use one loader per training process.[predicted? The prediction assumes that the "
    "handover costs nothing.]",
    "让 collate_fn 返回少量大张量，而不是许多数组或 Python 对象。返回 uint8 而不是 "
    "float32，并在设备上转换（只有 0 到 255 "
    "的整数保持精确）。每个训练进程只用一个加载器。[predicted?预测假设批次交接不耗时。]"};

inline constexpr Message kCollateSlow{
    "collate-slow.seen",
    "collating takes {collate_share:%0} of the time to make a batch[, most of it in "
    "{function:text} ({place:text})]",
    "合批占生成批次时间的 {collate_share:%0}[，其中大部分在 {function:text}（{place:text}）中]。"};
inline constexpr Message kSimplerCollate{
    "collate-slow.do",
    "[function?Make {function:text} faster, or do its work once before the training if its result "
    "involves no randomness.|Return tensors or arrays of equal shape, not Python objects, and "
    "stack them in one call; avoid nested dictionaries.][predicted? The prediction assumes a "
    "collate that costs nothing.]",
    "[function?让 {function:text} "
    "更快；如果结果不含随机成分，在训练前处理一次。|返回形状相同的张量或数组，"
    "而不是 Python 对象，并一次性堆叠；避免嵌套字典。][predicted?预测假设合批不耗时。]"};

inline constexpr Message kTransformsInTheLoop{
    "transforms-in-the-loop.seen",
    "the training loop transforms whole batches itself, on the CPU: {loop_share:%0} of its time",
    "训练循环自己在 CPU 上对整批数据做变换，占其时间的 {loop_share:%0}。"};
inline constexpr Message kTransformInWorkers{
    "transforms-in-the-loop.do",
    "Transform each sample in the dataset's __getitem__, so that workers do it in parallel with "
    "the step[ (num_workers={workers:count})]; random numbers are then drawn for each sample, not "
    "for each batch. Or transform on the GPU.[predicted? The prediction assumes that workers need "
    "as much CPU time for the transforms as the loop did.]",
    "在数据集的 __getitem__ "
    "中对每个样本做变换，由工作进程与训练步并行完成[（num_workers={workers:count}）]"
    "；随机数随之按样本抽取，而非按批次抽取。也可在 GPU "
    "上做变换。[predicted?预测假设工作进程做变换所需的 CPU 时间与训练循环原先相同。]"};

inline constexpr Message kSlowStorage{
    "slow-storage.seen",
    "each read runs at {bytes_per_s:bytes}/s, and reading takes {read_share:%0} of the workers' "
    "time",
    "每次读取的速度为 {bytes_per_s:bytes}/s，读取占工作进程 {read_share:%0} 的时间。"};
inline constexpr Message kFasterStorage{
    "slow-storage.do",
    "Copy the dataset to a local SSD or to memory, or store it smaller: better compressed, or "
    "resized once. (Lossy compression changes the pixels. So does resizing, unless the transforms "
    "resize to that size anyway.)[predicted? The prediction assumes reads that cost nothing.]",
    "把数据集复制到本地 SSD "
    "或内存，或存得更小：提高压缩率，或预先缩放一次。（有损压缩会改变像素；缩放也会，除非变换本来就"
    "缩放到该尺寸。）[predicted?预测假设读取不耗时。]"};

inline constexpr Message kSerialisedReads{
    "serialised-reads.seen",
    "reads of different workers hardly ever overlap: they take turns, and in {reading_alone:%0} of "
    "the time exactly one worker reads",
    "不同工作进程的读取几乎从不重叠：它们轮流进行，{reading_alone:%0} "
    "的时间恰好只有一个工作进程在读取。"};
inline constexpr Message kOpenInEachWorker{
    "serialised-reads.do",
    "Open the file in each worker, on first use and not in the constructor: forked workers share "
    "an open HDF5 handle. Take no lock around reads, use processes instead of threads (HDF5 has "
    "one lock per process), or convert to a format that is read without a lock.[predicted? The "
    "prediction assumes reads that take as long as now but run side by side.]",
    "在每个工作进程首次使用时打开文件，不要在构造函数中打开：fork 出的工作进程会共享已打开的 HDF5 "
    "句柄。读取时不要加锁，用进程代替线程（HDF5 "
    "每个进程只有一把锁），或转换为读取时无需加锁的格式。[predicted?"
    "预测假设每次读取的耗时与现在相同，但可并行进行。]"};

inline constexpr Message kColdCache{"cold-cache.seen",
                                    "reading a batch took {first_epoch_read_s:ms.1} ms in the "
                                    "first epoch, and {later_read_s:ms.1} ms in later epochs",
                                    "读取一个批次在首个 epoch 耗时 {first_epoch_read_s:ms.1} "
                                    "ms，在之后的 epoch 耗时 {later_read_s:ms.1} ms。"};
inline constexpr Message kWarmCache{
    "cold-cache.do",
    "Do not judge or tune by the first epoch. If epochs are few, read the dataset once beforehand "
    "(for example with cat or vmtouch), or keep it on faster storage.",
    "不要按首个 epoch 判断或调优。若 epoch 很少，可预先完整读取一次数据集（例如用 cat 或 "
    "vmtouch），或把它放在更快的存储上。"};

inline constexpr Message kSmallFiles{
    "small-files.seen",
    "files have {bytes_per_file:bytes} on average and take {read_s:ms.1} ms to read (median)",
    "文件平均 {bytes_per_file:bytes}，每个读取耗时 {read_s:ms.1} ms（中位数）。"};
inline constexpr Message kPackFiles{
    "small-files.do",
    "Copy the files to local storage, or pack them into large ones. LMDB still reads samples in "
    "any order; formats that are read in sequence (tar shards, WebDataset) shuffle only within a "
    "buffer.[predicted? The prediction assumes reads that cost nothing.]",
    "把文件复制到本地存储，或打包成大文件。LMDB 仍可按任意顺序读取样本；按顺序读取的格式（tar "
    "分片、WebDataset）只在缓冲区内打乱。[predicted?预测假设读取不耗时。]"};

inline constexpr Message kFitsInRam{
    "fits-in-ram.seen",
    "the run reads {dataset_bytes:bytes} again in every epoch, and they fit into half of the "
    "memory ({room_bytes:bytes})",
    "每个 epoch 都重新读取 {dataset_bytes:bytes}，而内存的一半（{room_bytes:bytes}）就能容纳。"};
inline constexpr Message kKeepInRam{
    "fits-in-ram.do",
    "[own?Pass --ram-cache {mebibytes:count}m.|[shm?Copy it once: cp -r {root:text} /dev/shm/, and "
    "read it from there.|Keep it in the page cache: vmtouch -tl {root:text}.]]",
    "[own?传入 --ram-cache {mebibytes:count}m。|[shm?复制一次：cp -r {root:text} "
    "/dev/shm/，再从那里读取。|把它留在页缓存中：vmtouch -tl {root:text}。]]"};

inline constexpr Message kSlowDecoder{
    "slow-decoder.seen",
    "decoding, most of it by Pillow, takes {decode_share:%0} of the time to make batches",
    "解码（大部分由 Pillow 完成）占生成批次时间的 {decode_share:%0}。"};
inline constexpr Message kFasterDecoder{
    "slow-decoder.do",
    "Decode with {first:text}[ or {second:text}] straight into an array or tensor; converting back "
    "to PIL images would lose the gain. Some pixels then differ by a level or two, [opencv?OpenCV "
    "returns channels as BGR, ]and other libraries resize with another filter than PIL: use the "
    "same code for validation.[predicted? The prediction assumes {times:.2} times the speed of "
    "decoding.]",
    "用 {first:text}[ 或 {second:text}] 直接解码为数组或张量；再转换回 PIL "
    "图像会失去收益。部分像素会相差一两级，[opencv?OpenCV 的通道顺序为 "
    "BGR，]其他库的缩放滤波器也与 PIL 不同：验证时请使用相同的代码。[predicted?"
    "预测假设解码速度为原来的 {times:.2} 倍。]"};

inline constexpr Message kDecodeLarger{
    "decode-larger-than-needed.seen",
    "{decoded_bytes:bytes} are decoded for a sample of {sample_bytes:bytes}",
    "为 {sample_bytes:bytes} 的样本解码了 {decoded_bytes:bytes}。"};
inline constexpr Message kDecodeSmaller{
    "decode-larger-than-needed.do",
    "Decode only the crop (the same pixels except at its edge), or decode at reduced size (PIL: "
    "image.draft(); OpenCV: IMREAD_REDUCED_COLOR_2), or store smaller copies of the images. The "
    "last two use another filter, so pixels change slightly: use them for validation "
    "too.[predicted? The prediction assumes half of the time for decoding.]",
    "只解码裁剪区域（除边缘外像素不变），或以缩小的尺寸解码（PIL：image.draft()；OpenCV：IMREAD_"
    "REDUCED_COLOR_"
    "2），或另存较小的图片。后两者使用不同的滤波器，像素会略有改变：验证时也请使用。[predicted?"
    "预测假设解码耗时减半。]"};

inline constexpr Message kConnectionsAnew{
    "connection-not-reused.seen",
    "{requests:count request} over HTTP opened {connections:count connection}, which took "
    "{each:duration} each",
    "{requests:count} 个 HTTP 请求打开了 {connections:count} 个连接，每个连接耗时 "
    "{each:duration}。"};
inline constexpr Message kReuseConnections{
    "connection-not-reused.do",
    "Make one client for each worker, on first use in the worker: a requests.Session (or a "
    "urllib3.PoolManager, a boto3 client, an aiohttp.ClientSession). Do not make one for each "
    "sample. Read every response to its end, so that its connection can be reused.[predicted? "
    "The prediction removes only the time to open connections.]",
    "为每个工作进程创建一个客户端，在该进程首次使用时创建：requests.Session（或 "
    "urllib3.PoolManager、boto3 "
    "客户端、aiohttp."
    "ClientSession）。不要为每个样本新建。把每个响应读完，其连接才能重用。[predicted?"
    "预测只去掉建立连接的时间。]"};

inline constexpr Message kFramesUnused{
    "decodes-more-frames-than-used.seen",
    "{decoded:count frame} of video were decoded, but the pixels of only {used:count} were used",
    "解码了 {decoded:count} 帧视频，但只使用了其中 {used:count} 帧的像素。"};
inline constexpr Message kFewerFrames{
    "decodes-more-frames-than-used.do",
    "Re-encode the videos with more key frames (ffmpeg -g 8), because a decoder starts at the key "
    "frame before the wanted frame; the files grow. Or decode several frames of a clip in one "
    "call, in order (PyAV: one seek, then decode on; torchcodec: get_frames_at; decord: "
    "get_batch). Or take only key frames if they suffice (PyAV: stream.codec_context.skip_frame = "
    "'NONKEY').[predicted? The prediction assumes twice as many key frames.]",
    "用更多关键帧重新编码视频（ffmpeg -g "
    "8），因为解码器要从所需帧之前的关键帧开始解码；文件会变大。或在一次调用中按顺序解码一个片段的"
    "多帧（PyAV：一次定位后连续解码；torchcodec：get_frames_at；decord：get_"
    "batch）。若关键帧已足够，也可只取关键帧（PyAV：stream.codec_context.skip_frame = "
    "'NONKEY'）。[predicted?预测假设关键帧的数量加倍。]"};

inline constexpr Message kRepeatedWork{
    "repeated-work.seen",
    "after the first of {epochs:count} epochs, {repeated_share:%0} of the time to make batches "
    "repeats earlier work: {samples:count sample} compared over {compared_epochs:count} epochs "
    "[all?were the same each time|were the same after {last:text} each time]",
    "{epochs:count} 个 epoch 中，从第二个起生成批次的时间有 {repeated_share:%0} "
    "在重复先前的工作：在 "
    "{compared_epochs:count} 个 epoch 之间比较了 {samples:count} 个样本，[all?每次都相同|经 "
    "{last:text} 后每次都相同]。"};
inline constexpr Message kStoreOnce{
    "repeated-work.do",
    "[all?Store the finished samples once (an array file, LMDB, tar) and read those. The network "
    "should then see the same data: {pairs:count} comparisons of {samples:count sample} over "
    "{compared_epochs:count} epochs found no difference.|Store the images once as {last:text} "
    "returns them, without loss (JPEG would change the pixels), and drop {transforms:text} from "
    "the transforms. The network should then see the same data: {pairs:count} comparisons of "
    "{samples:count sample} over {compared_epochs:count} epochs found no difference after "
    "{last:text}. Keep the later transforms.]",
    "[all?把处理完的样本保存一次（数组文件、LMDB、tar），以后直接读取。网络看到的数据应当不变：在 "
    "{compared_epochs:count} 个 epoch 中对 {samples:count} 个样本的 {pairs:count} "
    "次比较没有发现差异。|把 {last:text} 返回的图像无损保存一次（JPEG 会改变像素），并去掉变换 "
    "{transforms:text}。网络看到的数据应当不变：在 {compared_epochs:count} 个 epoch 中对 "
    "{samples:count} 个样本的 {pairs:count} 次比较，在 {last:text} "
    "之后没有发现差异。之后的变换请保留。]"};

inline constexpr Message kNormalizeOnCpu{
    "normalize-on-cpu.seen",
    "converting to floating point takes {share_of_fetch:%0} of the workers' time[, and "
    "{floating_share_of_batch:%0} of a batch's bytes are floating point]",
    "转换为浮点数占工作进程 {share_of_fetch:%0} 的时间[，批次的字节中有 "
    "{floating_share_of_batch:%0} 是浮点数]。"};
inline constexpr Message kNormalizeOnGpu{
    "normalize-on-cpu.do",
    "Leave samples as uint8 until [device?they are on the GPU, and convert and normalise there: x "
    "= x.to(device, non_blocking=True)|the training loop has the batch, and convert and normalise "
    "all of it there: x = x].float().sub_(mean).div_(std), with mean and std for 0 to 255. "
    "The network then sees the same values, unless a transform before that computes in floating "
    "point: its results would be rounded to whole levels.",
    "让样本保持 uint8 直到[device?进入 GPU，再在那里转换并归一化：x = x.to(device, "
    "non_blocking=True)|训练循环取到批次，再在那里对整批转换并归一化：x = "
    "x].float().sub_(mean).div_(std)，mean 和 std 按 0 到 255 "
    "计。网络看到的数值不变，除非此前有变换以浮点数计算：其结果会被舍入为整数级。"};

inline constexpr Message kWideLabels{
    "wide-labels.seen", "{int64_bytes:bytes} of a batch's {batch_bytes:bytes} are 64-bit integers",
    "批次的 {batch_bytes:bytes} 中有 {int64_bytes:bytes} 是 64 位整数。"};
inline constexpr Message kNarrowLabels{
    "wide-labels.do",
    "Store masks and labels as uint8 (or int16) in the dataset and call .long() on the device. The "
    "values stay the same if all are between 0 and 255 (or -32768 and 32767).[predicted? The "
    "prediction is an upper bound.]",
    "在数据集中以 uint8（或 int16）保存掩码和标签，并在设备上调用 .long()。若所有数值都在 0 到 "
    "255（或 -32768 到 32767）之间，数值不变。[predicted?预测为上限。]"};
inline constexpr Message kNarrowIds{
    "wide-labels.do.ids",
    "Make the ids int32 in the dataset: torch.nn.Embedding takes int32. Call .long() on the device "
    "where an operation needs int64. The values stay the same below "
    "2147483648.[predicted? The prediction is an upper bound.]",
    "在数据集中以 int32 保存编号：torch.nn.Embedding 接受 int32。需要 int64 的运算可在设备上调用 "
    ".long()。若所有数值都小于 2147483648，数值不变。[predicted?预测为上限。]"};

}  // namespace penstock::analyzer::words
