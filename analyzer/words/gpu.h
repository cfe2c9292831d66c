// SPDX-License-Identifier: Apache-2.0
//
// Devices in a report: the parts of a step, copies, kernels, counters.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// Parts of the time of a step: on the side of the loop, and on the side of the device.
inline constexpr Message kLoopWaits{"step.wait", "waits for data", "等待数据"};
inline constexpr Message kLoopCopies{"step.copy", "in calls that copy", "拷贝调用"};
inline constexpr Message kLoopSyncs{"step.sync", "waits for the device", "等待设备"};
inline constexpr Message kLoopLaunches{"step.rest", "launches and computes", "启动内核与计算"};
inline constexpr Message kPartUnknown{"step.unknown", "unknown", "未知"};
inline constexpr Message kKernels{"step.kernels", "kernels", "GPU 内核"};
inline constexpr Message kIdleOfCopy{"idle.copy", "idle: copy", "空闲：拷贝"};
inline constexpr Message kIdleOfData{"idle.data", "idle: waits for data", "空闲：等待数据"};
inline constexpr Message kIdleOfSync{"idle.sync", "idle: synchronisation", "空闲：同步"};
inline constexpr Message kIdleOfLaunch{"idle.launch", "idle: launch by the host",
                                       "空闲：主机尚未启动内核"};
inline constexpr Message kIdleUnknown{"idle.unknown", "idle: unknown", "空闲：未知"};
inline constexpr Message kStepOfBothSides{
    "step.both-sides", "{each:duration} from batch to batch, seen from both sides",
    "批次间隔 {each:duration}，分别从循环和设备看"};

// Host memory that copies come from.
inline constexpr Message kPageable{"copy.pageable", "pageable", "可分页内存"};
inline constexpr Message kPinned{"copy.pinned", "pinned", "锁页内存"};
inline constexpr Message kManaged{"copy.managed", "managed", "托管内存"};

inline constexpr Message kCopiesOfKind{
    "copies",
    "{count:count} [{memory:words} ]of {each:bytes}: "
    "[transfer?{transfer:duration} on the device[ at {rate:GB.1} GB/s"
    "[ ({of_link:percent} of the link)]]"
    "[, of that {overlapped:duration} beside kernels and {exposed:duration} alone]]"
    "[blocked?[transfer?; ]{blocked:duration} in the call"
    "[, begun {waited:duration} after it ({behind:duration} of that behind kernels)]]",
    "{count:count} 次[（{memory:words}）]，每次 {each:bytes}："
    "[transfer?设备上 {transfer:duration}[，{rate:GB.1} GB/s[（链路的 {of_link:percent}）]]"
    "[，与内核重叠 {overlapped:duration}，未重叠 {exposed:duration}]]"
    "[blocked?[transfer?；]调用 {blocked:duration}"
    "[，{waited:duration} 后开始（其中 {behind:duration} 在等内核）]]"};
inline constexpr Message kKernelRuns{
    "kernel", "{name:text}: {time:duration} in {runs:count} runs, {each:duration} each",
    "{name:text}：{runs:count} 次共 {time:duration}，每次 {each:duration}"};

inline constexpr Message kUsedByRun{"device.used", "used by this run", "此次运行使用"};
inline constexpr Message kOpenInRun{"device.open", "open in this run", "此次运行已打开"};
inline constexpr Message kUnusedByRun{"device.unused", "not used by this run", "此次运行未使用"};
inline constexpr Message kDeviceCounters{
    "device",
    "GPU {index:count}[ {model:text}][, {used:words}]"
    "[, NVML's utilisation {utilization:percent} (whole device, any program, windows of up to 1 s)]"
    "[, memory {memory_used:bytes}[ of {memory:bytes}]][, {power:.0} W[ of {power_limit:.0} W]]"
    "[, at most {temperature:.0} degrees][, SM clock {sm_clock:.0} MHz]"
    "[, memory clock {memory_clock:.0} MHz]"
    "[, PCIe from the host at most {received:GB.1} GB/s[ of {link:GB.1} GB/s]]"
    "[, clocks held down by power {power_capped:percent} of the time]"
    "[, [power_capped?|clocks held down ]by heat {too_hot:percent} of the time]"
    "[, [power_capped?|[too_hot?|clocks held down ]]by the hardware {slowed:percent} of the time]",
    "GPU {index:count}[ {model:text}][，{used:words}]"
    "[，NVML 利用率 {utilization:percent}（整个设备、所有程序，窗口最长 1 s）]"
    "[，显存 {memory_used:bytes}[ / {memory:bytes}]][，功率 {power:.0} W[ / {power_limit:.0} W]]"
    "[，最高 {temperature:.0} °C][，SM 频率 {sm_clock:.0} MHz]"
    "[，显存频率 {memory_clock:.0} MHz]"
    "[，PCIe 来自主机最高 {received:GB.1} GB/s[ / {link:GB.1} GB/s]]"
    "[，{power_capped:percent} 的时间因功率降频][，{too_hot:percent} 的时间因过热降频]"
    "[，{slowed:percent} 的时间因硬件降频]"};

inline constexpr Message kNoKernels{"gpu.no-kernels", "no kernels were recorded[: {reason:text}]",
                                    "没有录制到 GPU 内核[：{reason:text}]"};
inline constexpr Message kNoLoaderSeen{"gpu.no-loader",
                                       "no loader delivered batches while this was recorded",
                                       "录制期间没有加载器交付批次"};
inline constexpr Message kStepUnknown{"gpu.step-unknown",
                                      "what the GPU did in a step is not known: {why:words}",
                                      "不知道 GPU 在训练步中做了什么：{why:words}"};
inline constexpr Message kNotAllRecorded{"gpu.not-all",
                                         "the GPU's work was recorded only in part: {reason:text}",
                                         "GPU 的活动没有全部录制：{reason:text}"};
inline constexpr Message kNvmlReason{"gpu.nvml", "NVML: {reason:text}", "NVML：{reason:text}"};

}  // namespace penstock::analyzer::words
