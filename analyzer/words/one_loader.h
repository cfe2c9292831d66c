// SPDX-License-Identifier: Apache-2.0
//
// Which part of the program the figures of a report are about, if its loop uses several loaders one
// after the other.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// `share`: of the time of the loop with all loaders.
inline constexpr Message kOfOneLoader{
    "verdict.of-one-loader",
    "; all of this is about the loop over [loader?{loader:text}|one loader], which takes "
    "{share:%0} of the time that the loops spend on all loaders",
    "；以上均针对[loader?遍历 {loader:text} |单个加载器]的循环，它占所有加载器时间的 {share:%0}"};
// `gain`: of the loops over all loaders.
inline constexpr Message kPlanOfOneLoader{
    "plan.of-one-loader",
    "this is about the loop over [loader?{loader:text}|one loader], which takes {share:%0} of the "
    "time that the loops spend on all loaders[gain?: together these loops become {gain:times} "
    "times as fast]",
    "以上针对[loader?遍历 {loader:text} |单个加载器]的循环，它占所有加载器时间的 "
    "{share:%0}[gain?：所有加载器的循环合计速度变为原来的 {gain:times} 倍]"};

}  // namespace penstock::analyzer::words
