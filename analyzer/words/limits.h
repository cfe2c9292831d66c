// SPDX-License-Identifier: Apache-2.0
//
// Messages in which a report states its limits: what was seen of the run, what was not seen, and
// what was lost.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// Joins two sentences.
inline constexpr Message kBoth{"both", "{one:words}, {next:words}", "{one:words}，{next:words}"};

// Losses of the recording.
inline constexpr Message kDroppedEvents{"lost.events", "{events:count} events dropped",
                                        "丢弃 {events:count} 个事件"};
inline constexpr Message kDamagedBytes{"lost.damaged-bytes", "{bytes:bytes} damaged",
                                       "损坏 {bytes:bytes}"};
inline constexpr Message kDamagedRecords{"lost.damaged-records", "{records:count} records damaged",
                                         "损坏 {records:count} 条记录"};
inline constexpr Message kThreadsWithoutRoom{"lost.threads", "{threads:count} threads without room",
                                             "{threads:count} 个线程没有录制缓冲"};
inline constexpr Message kEndsEarly{
    "lost.end",
    "the file ends early[, with no calls of {ends:words}[ and {more:count other}]][; of the last "
    "epoch's {epoch:count} batches it has {batches:count}[, {made:count} of them with how they "
    "were made]]",
    "文件提前结束[，缺少{ends:words}[以及另外 {more:count} 个进程]的调用][；最后一个 epoch 的 "
    "{epoch:count} 个批次中有 {batches:count} 个[，其中 {made:count} 个有生成过程的记录]]"};
inline constexpr Message kNothingAfter{
    "lost.after", "[worker?worker {worker:count}|the training process] after {at:duration}",
    "[worker?工作进程 {worker:count} |训练进程]在 {at:duration} 之后"};

// The share of the bytes that hooks saw.
inline constexpr Message kPartlySeen{"seen.partly",
                                     "only {share:percent} of the bytes read were seen",
                                     "只看到所读字节的 {share:percent}"};
inline constexpr Message kSeenShare{
    "seen.share",
    "{share:percent} of all that its processes read, libraries too ({seen:bytes} of "
    "{total:bytes})",
    "各进程所读全部字节（含程序库）的 {share:percent}（{seen:bytes} / {total:bytes}）"};
inline constexpr Message kSeenMapped{
    "seen.mapped",
    "almost nothing was read by system calls ({total:bytes}): the files were mapped into memory",
    "几乎没有通过系统调用读取（{total:bytes}）：文件被映射到内存"};
inline constexpr Message kSeenUnknown{
    "seen.unknown",
    "an unknown share of the bytes read: the operating system's counts were not recorded",
    "未知（没有录制操作系统的字节计数）"};

// Ways to read, and processes, that hooks do not see.
inline constexpr Message kIoUring{
    "unseen.uring", "reads through io_uring bypass every hook: `read` does not include them",
    "经 io_uring 的读取：不经过任何钩子，“读取”中不含这些"};
inline constexpr Message kAsynchronous{"unseen.aio",
                                       "asynchronous reads (libaio): `read` does not include them",
                                       "异步读取（libaio）：“读取”中不含这些"};
inline constexpr Message kMappedFiles{
    "unseen.mapped",
    "mapped files: their bytes come in as page faults, inside the decode or transform that touches "
    "them",
    "映射到内存的文件：其字节经缺页读入，计入访问它们的解码或变换"};
inline constexpr Message kIsolated{
    "unseen.isolated",
    "an isolated Python (-I or -E): loader, transforms and OpenCV were not traced",
    "隔离模式的 Python（-I 或 -E）：加载器、变换和 OpenCV 未被跟踪"};
inline constexpr Message kIsolatedChild{
    "unseen.isolated-child",
    "a child process runs Python with -I or -E: of what it does, only reads and native decoders "
    "were traced",
    "有子进程以 -I 或 -E 运行 Python：其中只跟踪了读取和原生解码器"};
inline constexpr Message kEndedUncounted{
    "unseen.ended-uncounted",
    "processes that ended before the kernel's count of their bytes was taken: only the "
    "{bytes:bytes} that hooks saw of them are counted",
    "在读取操作系统字节计数之前就已结束的进程：只计入钩子所见的 {bytes:bytes}"};
inline constexpr Message kSandboxed{
    "unseen.sandboxed",
    "a process that restricted itself (seccomp): nothing was recorded of it from then on",
    "有进程启用了 seccomp 隔离：此后没有录制到它的任何内容"};
inline constexpr Message kLimited{
    "unseen.limited",
    "a process whose memory limits (ulimit -v, -d, -l) leave no room for the recording: its "
    "activity is counted as lost",
    "有进程的内存限制（ulimit -v、-d、-l）容不下录制缓冲：它的活动计为丢失"};
inline constexpr Message kUnknownCallers{"unseen.callers",
                                         "{calls:count} calls whose library was not found",
                                         "{calls:count} 次调用找不到所属的库"};
inline constexpr Message kLoadedUnseen{
    "unseen.loaded",
    "{library:words}: loaded, but not traced; its time is charged to the enclosing stage",
    "{library:words}：已加载但未被跟踪，其耗时计入所在的阶段"};
inline constexpr Message kSeenFromPython{
    "unseen.python-only",
    "{library:words}: traced through Python only, and this program is not Python",
    "{library:words}：只有经 Python 调用才能看到，而此程序不是 Python"};

// Libraries, by what they do.
inline constexpr Message kGpuJpeg2000{"library.gpu-jpeg2000",
                                      "JPEG 2000 decoding on the GPU ({name:text})",
                                      "GPU 上的 JPEG 2000 解码（{name:text}）"};
inline constexpr Message kJpeg{"library.jpeg", "JPEG decoding ({name:text})",
                               "JPEG 解码（{name:text}）"};
inline constexpr Message kGpuJpeg{"library.gpu-jpeg", "JPEG decoding on the GPU ({name:text})",
                                  "GPU 上的 JPEG 解码（{name:text}）"};
inline constexpr Message kGpuImages{"library.gpu-images", "image decoding on the GPU ({name:text})",
                                    "GPU 上的图像解码（{name:text}）"};
inline constexpr Message kGpuVideo{"library.gpu-video", "video decoding on the GPU ({name:text})",
                                   "GPU 上的视频解码（{name:text}）"};
inline constexpr Message kVideo{"library.video", "video decoding ({name:text})",
                                "视频解码（{name:text}）"};
inline constexpr Message kGpuReads{"library.gpu-reads",
                                   "reads straight into GPU memory ({name:text})",
                                   "直接读入显存（{name:text}）"};
inline constexpr Message kAioReads{"library.aio", "asynchronous reads ({name:text})",
                                   "异步读取（{name:text}）"};
inline constexpr Message kHeif{"library.heif", "HEIF decoding ({name:text})",
                               "HEIF 解码（{name:text}）"};
inline constexpr Message kAvif{"library.avif", "AVIF decoding ({name:text})",
                               "AVIF 解码（{name:text}）"};
inline constexpr Message kTiff{"library.tiff", "TIFF decoding ({name:text})",
                               "TIFF 解码（{name:text}）"};
inline constexpr Message kJpeg2000{"library.jpeg2000", "JPEG 2000 decoding ({name:text})",
                                   "JPEG 2000 解码（{name:text}）"};
inline constexpr Message kJpegXl{"library.jpegxl", "JPEG XL decoding ({name:text})",
                                 "JPEG XL 解码（{name:text}）"};
inline constexpr Message kNamedLibrary{"library.named", "{name:text}", "{name:text}"};
inline constexpr Message kDali{"library.dali",
                               "NVIDIA DALI: its operators are known by its NVTX ranges only",
                               "NVIDIA DALI（只能通过 NVTX 区间了解其算子）"};
inline constexpr Message kTensorFlow{
    "library.tensorflow",
    "TensorFlow: only the reads and the JPEG and PNG decoding of its threads are seen",
    "TensorFlow（其线程中只能看到读取以及 JPEG、PNG 解码）"};

}  // namespace penstock::analyzer::words
