// SPDX-License-Identifier: Apache-2.0
//
// Messages of the verdict on a program without a loader. They say which threads make the data, and
// which threads wait for it.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

// Why it is not known whether the data holds the run back.
inline constexpr Message kFedNoLoader{"fed.no-loader", "no loader was seen", "没有看到加载器"};
inline constexpr Message kFedFew{
    "fed.few",
    "the number of samples, pictures or other decodes that were seen after the queues had filled "
    "is {made:count} (64 are needed)",
    "队列填满后看到的样本、图片或其他解码为 {made:count} 个（需要 64 个）"};
inline constexpr Message kFedNoLoop{
    "fed.no-loop",
    "no thread was seen that waits for the threads that make the data, or that keeps them waiting",
    "没有看到哪个线程等待生成数据的线程，或使它们等待"};
inline constexpr Message kFedTie{
    "fed.tie",
    "they work all the time, but the loop was not seen to wait for them (it may check for "
    "data only now and then, or both sides take the same time)",
    "数据线程一直在工作，但没有看到训练循环等待它们（可能以休眠方式轮询，或两者耗时相同）"};

// Without a loader, but with threads or processes that make the data, and a loop that takes it.
inline constexpr Message kOwnCodeOfMakers{
    "part.own-code-of-makers",
    "What the data threads do besides reading and decoding (their own code, and the handover)",
    "数据线程在读取和解码之外的工作（自身代码和交接）"};
inline constexpr Message kTakesFrom{
    "taking.from",
    "the loop waits {wait:%0} of the time for {makers:count thread} that make its data, and these "
    "wait {held:%0} of theirs",
    "训练循环有 {wait:%0} 的时间在等待 {makers:count} 个数据线程，它们有 {held:%0} 的时间在等待"};
inline constexpr Message kTakesAndMakes{
    "taking.and-makes",
    "the loop waits {wait:%0} of the time for {makers:count thread} beside it, and reads, decodes "
    "and augments itself {own:%0} of it",
    "训练循环有 {wait:%0} 的时间在等待其他 {makers:count} 个数据线程，另有 {own:%0} "
    "的时间自己读取、"
    "解码和增强"};
inline constexpr Message kTakesOwn{"taking.own",
                                   "the loop makes its data itself, {own:%0} of the time",
                                   "训练循环自己生成数据，占 {own:%0} 的时间"};
inline constexpr Message kFedBack{
    "verdict.fed-back",
    "{part:words} holds the run back: if it cost nothing, the run would be up to {gain:times}x as "
    "fast ({rate:rate}[ -> {free:rate}] {unit:words}, less the time to hand samples over, which "
    "was not measured); {taking:words}",
    "瓶颈是{part:words}：若其不耗时，速度最多可达 {gain:times} 倍（{rate:rate}[ → {free:rate}] "
    "{unit:words}，未计交接样本的时间）；{taking:words}"};
inline constexpr Message kFedStep{
    "verdict.fed-step",
    "The training step holds the run back, not the data: without it the run would be {gain:times}x "
    "as "
    "fast ({rate:rate}[ -> {free:rate}] {unit:words}), with data that costs nothing "
    "{headroom:times}x; {taking:words}",
    "瓶颈是训练步而非数据：若无训练步，速度可达原来的 {gain:times} 倍（{rate:rate}[ → {free:rate}] "
    "{unit:words}），若数据不耗时则为原来的 {headroom:times} 倍；{taking:words}"};
inline constexpr Message kFedInTurn{
    "verdict.fed-in-turn",
    "Data and the rest of the loop take turns at {rate:rate} {unit:words}, and the rest takes more "
    "of the time: without reading, decoding and augmenting the run would be {headroom:times}x as "
    "fast[ ({dataless:rate})], without the rest {gain:times}x[ ({free:rate})]; {taking:words}",
    "数据与循环的其余部分轮流进行（{rate:rate} {unit:words}），其余部分占用更多时间：若无读取、解码"
    "和增强，速度可达原来的 {headroom:times} 倍[（{dataless:rate}）]；若无其余部分，可达原来的 "
    "{gain:times} "
    "倍[（{free:rate}）]；{taking:words}"};
inline constexpr Message kFedTurns{
    "verdict.fed-turns",
    "Loop and data threads wait for each other by turns: with a long enough queue between them "
    "the run would be {gain:times}x as fast ({rate:rate}[ -> {free:rate}] {unit:words}); "
    "{taking:words}",
    "训练循环与数据线程轮流互相等待：若两者之间的队列足够长，速度可达原来的 {gain:times} "
    "倍（{rate:rate}"
    "[ → {free:rate}] {unit:words}）；{taking:words}"};
inline constexpr Message kFedNothing{
    "verdict.fed-nothing",
    "Nothing stands out: no single part would gain 5 % by costing nothing ({rate:rate} "
    "{unit:words}); {taking:words}",
    "没有突出的瓶颈：任一环节不耗时的收益都不足 5 %（{rate:rate} {unit:words}）；{taking:words}"};

}  // namespace penstock::analyzer::words
