// SPDX-License-Identifier: Apache-2.0
//
// Messages about functions and lines of the program: labels of their tables, and findings about
// them.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kInSamples{"functions.sample", "in a sample", "每个样本"};
inline constexpr Message kInCollate{"functions.collate", "in collating a batch", "合批时"};
inline constexpr Message kInStep{"functions.step", "in a step, Python side",
                                 "训练步中（Python 侧）"};
inline constexpr Message kFollowed{"functions.followed", "{units:count} followed call by call",
                                   "逐个调用跟踪了其中 {units:count} 个"};

inline constexpr Message kSlowerThanUsual{
    "functions.slower",
    "slower than usual: {unit:duration}, mean of all {mean:duration}; shares of these alone",
    "比平时慢：{unit:duration}，全部的平均为 {mean:duration}；占比仅针对这些"};

inline constexpr Message kFollowingCost{"functions.cost",
                                        "following them took {cost:%2} of the processes' time",
                                        "跟踪占用了进程 {cost:%2} 的时间"};

inline constexpr Message kTitleFunctions{"page.functions", "Functions and lines", "函数与代码行"};
inline constexpr Message kLinkFunctions{"page.link-functions", "functions", "函数"};
inline constexpr Message kFunctionsNone{"page.functions-none",
                                        "no calls of the program's functions were recorded",
                                        "没有记录程序函数的调用"};
inline constexpr Message kColumnWithCalled{"page.with-called", "with all it calls", "含其调用"};
inline constexpr Message kColumnCalls{"page.calls", "calls", "调用次数"};
inline constexpr Message kLineOf{"page.line", "line {line:count}", "第 {line:count} 行"};
inline constexpr Message kCallPathTip{"page.call-path", "{name:text}, {place:text}: {share:%1}",
                                      "{name:text}，{place:text}：{share:%1}"};
inline constexpr Message kFlameCaption{
    "page.flame-caption",
    "Calls from top to bottom; the width is the share of the time. A library's functions have the "
    "lighter colour.",
    "调用自上而下排列，宽度为所占时间的比例。库函数的颜色较浅。"};

inline constexpr Message kHotPythonLoop{
    "hot-python-loop.seen",
    "[line?line {line:count}[several? and other lines] of ]{function:text} ({place:text}) "
    "[several?run up to|runs] {count:count} times for each [batch?batch|sample] in the Python "
    "interpreter: {loop_share:%0} of the workers' time[with_calls? in [several?themselves|itself], "
    "{with_calls:%0} with the library functions that [several?they call|it calls]]",
    "{function:text}（{place:text}）[line?的第 {line:count} 行[several?等多行]]在 Python "
    "解释器中为每个"
    "[batch?批次|样本][several?最多]执行 {count:count} 次，占工作进程 {loop_share:%0} "
    "的时间[with_calls?（仅自"
    "身；含其调用的库函数为 {with_calls:%0}）]。"};
inline constexpr Message kVectorise{
    "hot-python-loop.do",
    "Replace the loop by array operations (NumPy, torch), compile it (Numba), or do it once and "
    "store the result if it does not depend on chance.[predicted? The prediction assumes a tenth "
    "of the time.]",
    "用数组运算（NumPy、torch）代替循环，或编译它（Numba）；若结果与随机无关，可只计算一次并保存结"
    "果。[predicted?预测假设耗时降为十分之一。]"};

inline constexpr Message kSlowCall{
    "slow-call.seen",
    "{call:text}, called from {function:text} ({place:text}[, line {line:count}]), takes "
    "{call_share:%0} of the workers' time",
    "{function:text}（{place:text}[，第 {line:count} 行]）调用的 {call:text} 占工作进程 "
    "{call_share:%0} 的时间。"};
inline constexpr Message kDoInstead{
    "slow-call.do",
    "{advice:words}[predicted? The prediction assumes that {gone:%0} of its time goes.]",
    "{advice:words}[predicted?预测假设其耗时减少 {gone:%0}。]"};

}  // namespace penstock::analyzer::words
