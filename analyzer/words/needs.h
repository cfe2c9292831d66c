// SPDX-License-Identifier: Apache-2.0
//
// Messages that say what a recording lacks for a prediction.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kNeedsLoader{
    "needs.loader",
    "not enough: needs the batches of a loader that Penstock follows (torch.utils.data, penstock "
    "load and others), and none was seen",
    "数据不足：需要 Penstock 能跟踪的加载器（torch.utils.data、penstock load "
    "等）的批次，而此次没有看到"};
inline constexpr Message kNeedsRecords{"needs.records",
                                       "not enough: no finished call of the run was recorded",
                                       "数据不足：没有录制到此次运行中任何已结束的调用"};
inline constexpr Message kNeedsWorkers{
    "needs.workers",
    "not enough: needs the batches of a loader, and this loop makes its data itself; with workers "
    "that make it beside the loop it would run at most {headroom:times} times as fast; load "
    "through torch.utils.data.DataLoader with num_workers=2 and record again",
    "数据不足：需要加载器的批次，而此循环自己生成数据；由工作进程与循环并行生成，速度至多为原来的 "
    "{headroom:times} 倍；请通过 torch.utils.data.DataLoader（num_workers=2）加载，再重新录制"};
inline constexpr Message kNeedsLoaderIn{
    "needs.loader-in", "{trace:text}: not enough: needs the batches of a loader, and none was seen",
    "{trace:text}：数据不足，需要加载器的批次，而其中没有看到"};
inline constexpr Message kNeedsRunningLoader{
    "needs.running-loader",
    "not enough: needs a run of the loader, and this one was recorded with --fixed-batch, which "
    "delivers one batch for ever; give it to penstock whatif with --fixed-batch, together with a "
    "recording made without it",
    "数据不足：需要加载器正常工作的录制，而此次使用了 --fixed-batch，始终交付同一批次；请用 "
    "penstock whatif 的 --fixed-batch 指定它，并同时给出一份不带该选项的录制"};
inline constexpr Message kNeedsOneLoader{
    "needs.one-loader",
    "not enough: this loop takes batches of several loaders in turn, and one of them starts anew "
    "all the time, was not seen making its batches, or is used on another thread; the simulation "
    "cannot do that; measure other settings with penstock sweep",
    "数据不足：此循环轮流从多个加载器取批次，而其中某个加载器频繁重新开始、其批次的生成未被看到，或"
    "在另一线程中使用，模拟不支持；请用 penstock sweep 测量其他设置"};
inline constexpr Message kNeedsOneLoaderForThat{
    "needs.one-loader-for-that",
    "not enough: another batch size, format, decoder, cache, device or machine is predicted only "
    "for a loop over one loader, and this loop takes batches of several in turn; the other choices "
    "are predicted",
    "数据不足：其他批大小、格式、解码器、缓存、设备或机器只能对单加载器循环预测，而此循环轮流从多个"
    "加载器取批次；其余选项均可预测"};
inline constexpr Message kNeedsBatches{
    "needs.batches", "not enough: needs 16 batches of one loader in a row, and has {batches:count}",
    "数据不足：需要同一加载器连续 16 个批次，现有 {batches:count} 个"};
inline constexpr Message kNeedsWholeSamples{
    "needs.whole-samples",
    "not enough: needs threads that make whole samples; stages with their own threads "
    "(--read-threads, --decode-threads, --augment-threads) are not simulated",
    "数据不足：需要由线程生成完整样本；无法模拟各阶段使用独立线程的情形（--read-threads、"
    "--decode-threads、--augment-threads）"};
inline constexpr Message kNeedsMaking{
    "needs.making",
    "not enough: needs a record of when each batch was made and from what, which {package:text} "
    "does not give",
    "数据不足：需要每个批次由什么组成、何时生成的记录，而 {package:text} 不提供"};
inline constexpr Message kNeedsSight{
    "needs.sight",
    "not enough: needs a record of how each batch was made, which [none?no batch|most batches] of "
    "this recording [none?has|lack]",
    "数据不足：需要每个批次生成过程的记录，而此次录制中[none?所有|多数]批次都没有"};
inline constexpr Message kNeedsStep{
    "needs.step",
    "not enough: needs the training step, and nothing shows that the thread that takes the batches "
    "trains; if it hands them on, the step was not seen; measure other settings with penstock "
    "sweep",
    "数据不足：需要训练步，而没有迹象表明取走批次的线程在训练；如果它把批次转交出去，"
    "就没有看到训练步；请用 penstock sweep 测量其他设置"};
inline constexpr Message kNeedsSteady{
    "needs.steady",
    "not enough: needs 16 batches after the queues have filled, and has {batches:count}; record "
    "{more:count} more",
    "数据不足：队列填满后需要 16 个批次，现有 {batches:count} 个，请再多录制 {more:count} 个"};
inline constexpr Message kNeedsLevel{
    "needs.level",
    "not enough: needs a rate that keeps its level, and it still [rises?rises|falls] from "
    "{first:rate} to {last:rate} {unit:words}[cache?, while reading and decoding take less and "
    "less of a batch, as while a cache fills (each worker may fill its own)]; record for longer, "
    "or look at the end of the recording alone",
    "数据不足：需要保持不变的速率，而速率仍在从 {first:rate} [rises?上升|下降]到 {last:rate} "
    "{unit:words}[cache?"
    "，同时每批用于读取和解码的时间越来越少，就像缓存正在填充（每个工作进程可能各有一份）]"
    "；请延长录制，或只看录制"
    "的末尾部分"};
inline constexpr Message kNeedsExplained{
    "needs.explained",
    "the simulation does not match this run ({error:%+0}), so no gain is predicted: "
    "something was not recorded, or the loop does something that the simulation does not model; "
    "try other settings "
    "with penstock sweep",
    "模拟与此次运行不符（{error:%+0}"
    "），因此不预测收益：有记录缺失，或循环中有模拟未考虑的行为；请用 "
    "penstock sweep 试验其他设置"};
// Where the plan or the verdict has given the reason already.
inline constexpr Message kPlanSays{"needs.plan", "the plan says why", "原因见计划"};
inline constexpr Message kVerdictSays{"needs.verdict", "the verdict says why", "原因见结论"};
inline constexpr Message kNeedsOrdinaryWaits{
    "needs.waits",
    "not enough: a single wait for a batch lasts {longest:duration}, {share:%0} of the measured "
    "time; find out what it waits for, or record for longer",
    "数据不足：单次等待批次耗时 {longest:duration}，占测量时间的 {share:%0}；请查明在等待什么，"
    "或延长录制"};
inline constexpr Message kNeedsSizes{
    "needs.sizes", "not enough: needs the sizes of decoded pictures, and none was seen",
    "数据不足：需要解码后图像的尺寸，而此次没有看到"};
inline constexpr Message kNeedsPictures{
    "needs.pictures",
    "not enough: needs a run that decodes pictures, and {call:text} decodes something else",
    "数据不足：需要解码图像的运行，而 {call:text} 解码的不是图像"};
inline constexpr Message kNeedsJpeg{
    "needs.jpeg",
    "not enough: the speeds of decoders are known for JPEG files only, and these files are "
    "[mixed?of several formats|{format:text}]",
    "数据不足：解码器的速度只对 JPEG 文件已知，而这些文件[mixed?为多种格式|是 {format:text}]"};
inline constexpr Message kNeedsTypes{
    "needs.types",
    "not enough: needs the data types of a batch, which the trace does not hold; give them, as in "
    "--transfer f32:u8",
    "数据不足：需要批次的数据类型，而跟踪中没有记录；请指明，例如 --transfer f32:u8"};
inline constexpr Message kNeedsReads{
    "needs.reads",
    "not enough: needs 64 reads of files of different sizes, to tell the time to open one from the "
    "time for its bytes",
    "数据不足：需要 64 次对不同大小文件的读取，以区分打开文件与读取字节的耗时"};
inline constexpr Message kNeedsKnownDecoder{
    "needs.known-decoder",
    "not enough: needs pictures decoded by a decoder whose speed is known, and these were decoded "
    "by [decoder?{decoder:text}|an unknown one]",
    "数据不足：需要已知速度的解码器的解码记录，而此次的解码器是[decoder? {decoder:text}|未知的]"};
inline constexpr Message kNeedsBytes{
    "needs.bytes", "not enough: needs the bytes that were read, and none were seen",
    "数据不足：需要读取的字节数，而此次没有看到"};

// Laws that a predicted rate would break. A broken law means that measured and simulated figures do
// not fit together.
inline constexpr Message kBeyondCores{
    "law.cores",
    "{rate:rate} samples/s would need {needed:.1} of the {cores:3g} cores, by the CPU time that a "
    "sample was seen to take",
    "按录制中每个样本的 CPU 时间，{rate:rate} 样本/秒需要 {needed:.1} 个核心，而可用 {cores:3g} "
    "个"};
inline constexpr Message kBeyondStorage{
    "law.storage", "{rate:rate} samples/s are more than storage gives, which is {most:rate}",
    "{rate:rate} 样本/秒超过存储所能提供的 {most:rate}"};
inline constexpr Message kBeyondLoop{
    "law.loop",
    "{rate:rate} samples/s are faster than the loop alone, whose own work allows {most:rate}",
    "{rate:rate} 样本/秒快于循环本身，循环自身的工作只允许 {most:rate}"};
inline constexpr Message kThreadsMoved{
    "law.threads",
    "the dataset's own threads would make samples beside the training loop instead of in a worker, "
    "and how fast they are there is not known",
    "数据集自己的线程将在训练循环旁边而不是在工作进程中生成样本，其速度未知"};
inline constexpr Message kProcessesMoved{
    "law.processes",
    "the samples come from processes that the program starts itself (multiprocessing): workers "
    "could not share these, PyTorch's workers may start none, and how fast more such processes "
    "would be is not known",
    "样本来自程序自己（multiprocessing）启动的进程：工作进程无法共用它们，PyTorch "
    "的工作进程也不能启动这类进程，更多此类进程的速度未知"};
inline constexpr Message kNeedsOwnProcesses{
    "needs.own-processes",
    "not enough: the samples come from processes that the program starts itself "
    "(multiprocessing); workers could not share these, and PyTorch's workers may start none; "
    "change their number in the program and record again",
    "数据不足：样本来自程序自己（multiprocessing）启动的进程；工作进程无法共用它们，"
    "PyTorch 的工作进程也不能启动这类进程；请在程序中改变其数量并重新录制"};
inline constexpr Message kBeyondShards{
    "law.shards",
    "the dataset gives only {most:count worker} anything to do: further ones would have no shard",
    "数据集只够 {most:count} 个工作进程工作，更多的没有分片"};
// Rows that penstock whatif leaves out.
inline constexpr Message kRowLeftOut{
    "law.row",
    "[{cores:3g} cores, ]{workers:count worker}, prefetch {prefetch:count}: not predicted: "
    "{why:words}",
    "[{cores:3g} 个核心、]{workers:count} 个工作进程、预取 "
    "{prefetch:count}：不作预测：{why:words}"};
inline constexpr Message kNothingLeft{
    "law.nothing-left",
    "nothing can be predicted: {why:words}; measure other settings with penstock sweep",
    "无法预测：{why:words}；请用 penstock sweep 测量其他设置"};

// Options of penstock whatif that cannot be followed.
inline constexpr Message kUnknownType{"usage.transfer",
                                      "--transfer {given:text}: there are u8, f16 and f32",
                                      "--transfer {given:text}：可用 u8、f16 和 f32"};
inline constexpr Message kUnknownLoader{
    "usage.loader",
    "--loader {given:text}: [known?the loaders of this run are {known:text}|no loader of this run "
    "has a name]",
    "--loader {given:text}：[known?此次运行的加载器有 {known:text}|此次运行的加载器没有名称]"};
inline constexpr Message kTransferOfFiles{
    "usage.transfer-of-files",
    "--transfer has no effect if the GPU decodes: the handover carries files",
    "在 GPU 上解码时交接的是文件，--transfer 不起作用"};
inline constexpr Message kNoPixel{"usage.offline-resize", "--offline-resize: give 1 pixel or more",
                                  "--offline-resize：请给出 1 个像素以上"};
inline constexpr Message kUnknownDecoder{"usage.decoder",
                                         "--decoder {given:text}: known are{known:text}",
                                         "--decoder {given:text}：已知的有{known:text}"};
inline constexpr Message kDecodeAlone{
    "usage.gpu-decode",
    "--gpu decode: pictures would come back to the CPU for augmentation; say decode,augment",
    "--gpu decode：图像还要回到 CPU 做增强；请使用 decode,augment"};

// Why there is no plot.
inline constexpr Message kNoBatchHanded{"plot.no-batch",
                                        "no batch was seen being delivered to the training loop",
                                        "没有看到批次被交付给训练循环"};
inline constexpr Message kNoTimeOfExcerpt{
    "plot.no-time-of-excerpt", "the batches of the excerpt took no time", "这些批次没有耗时"};
inline constexpr Message kNoQueue{
    "plot.no-queue",
    "there are no workers: a batch is made when the loop asks for it, and nothing queues",
    "没有工作进程：批次在循环请求时才生成，没有排队"};
inline constexpr Message kQueueUnknown{
    "plot.queue-unknown",
    "the recording does not say how many workers there were, so whether batches queue is not known",
    "录制中没有工作进程数，因此是否有批次排队未知"};
inline constexpr Message kFinishUnseen{"plot.finish-unseen",
                                       "it was not seen when most batches were finished",
                                       "多数批次的完成时刻不可见"};
inline constexpr Message kNoTime{"plot.no-time", "the batches took no time", "这些批次没有耗时"};

}  // namespace penstock::analyzer::words
