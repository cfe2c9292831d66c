// SPDX-License-Identifier: Apache-2.0
#include "gui/model/panels/io.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/words/format.h"
#include "tests/analyzer/synthetic_ranks.h"
#include "tests/gui/panels_support.h"
#include "tests/gui/support.h"

namespace penstock::gui {
namespace {

using testing::GpuRun;

Document DocumentFor(const GpuRun& run = {}) {
  return testing::DocumentOf(traces::MakeTrace(testing::MakeGpuRun(run)));
}

IoModel IoOf(const Document& document, std::optional<TimeRange> range = std::nullopt) {
  return BuildIo({document.trace.get(), range}, *document.analysis);
}

TEST(IoModelTest, BytesOverTimeAddUpToWhatWasRead) {
  const Document document = DocumentFor();
  const IoModel io = IoOf(document);
  EXPECT_EQ(io.reads, 400U);  // 100 batches of 4
  EXPECT_EQ(io.bytes, 400U * 100'000);
  EXPECT_NEAR(io.seen.sum() * io.seen.width, static_cast<double>(io.bytes), 1);
  EXPECT_NEAR(io.wall, 400 * 0.001, 1e-3);
  EXPECT_LE(io.active, io.wall + 1e-9);
}

TEST(IoModelTest, WaitingBeforeAReadIsNoRead) {
  traces::TraceData data = testing::MakeGpuRun({});
  testing::DelayReads(data);
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const analyzer::RunModel& run = document.analysis->report.diagnosis.run;
  ASSERT_GT(run.stages[traces::StageId::kRead].queued.value, 0);
  const IoModel io = IoOf(document);
  EXPECT_EQ(io.reads, 400U);
  EXPECT_NEAR(io.wall, 400 * 0.0008, 1e-3);
  // The stage contains the wait: 166 ms of reading beside 105 ms of one reader.
  EXPECT_NEAR(io.waits, Seconds(run.stages[traces::StageId::kRead].queued), 1e-6);
  EXPECT_EQ(io.reader_text(), Text::kIoOneReaderWaits);
  EXPECT_EQ(IoOf(DocumentFor()).reader_text(), Text::kIoOneReader);
  EXPECT_NE(TextOf(Text::kIoWhileReadingTip, Language::kEnglish).find("the wait before a read"),
            std::string::npos);
  EXPECT_NE(TextOf(Text::kIoWhileReadingTip, Language::kChinese).find("读取前的等待"),
            std::string::npos);
  EXPECT_DOUBLE_EQ(io.sizes.median, 100'000);
}

TEST(IoModelTest, FilesHoldTheirReadsAndTheLongestComesFirst) {
  const Document document = DocumentFor();
  const IoModel io = IoOf(document);
  ASSERT_EQ(io.file_count, 50U);
  EXPECT_TRUE(io.paths);
  EXPECT_EQ(io.folder, "/data/train/");
  std::uint64_t reads = 0;
  for (std::size_t i = 0; i < io.files.size(); ++i) {
    reads += io.files[i].reads;
    EXPECT_LE(io.files[i].total(), io.files[0].total());
    EXPECT_EQ(io.files[i].sample_count, 3U);
    EXPECT_TRUE(io.files[i].more_samples);  // a file is read for 8 samples
  }
  EXPECT_EQ(reads, io.reads);
  const auto order = SortFiles(*document.trace, io.files, FileColumn::kPath, false);
  EXPECT_LT(document.trace->String(io.files[order[0]].object),
            document.trace->String(io.files[order[1]].object));
}

// File 7 is read as fast as the others, and decoded ten times as slowly.
TEST(IoModelTest, AFileThatIsSlowToDecodeIsFirstOfAllThatWereReadAndDecoded) {
  traces::TraceData data = testing::MakeGpuRun({});
  const StringId slow = data.Intern("/data/train/7.jpg");
  double decoded = 0;
  for (std::vector<traces::Span>& spans : data.spans) {
    StringId read;
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kRead) {
        read = span.object;
        span.sample = wire::kNoSample;
        // Its reads are shorter, so that it is not the file that took longest to read.
        if (read == slow) span.duration = TimeNs{span.duration.value - 1000};
      }
      if (span.stage != traces::StageId::kDecode) continue;
      span.sample = wire::kNoSample;
      if (read != slow) span.duration = TimeNs{span.duration.value / 10};
      if (read == slow) decoded += static_cast<double>(span.duration.value) * 1e-9;
    }
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const IoModel io = IoOf(document);
  ASSERT_FALSE(io.files.empty());
  EXPECT_EQ(io.files[0].object, slow);
  EXPECT_NEAR(io.files[0].decode, decoded, 1e-6);
  EXPECT_GT(decoded, 0);
  const auto order = SortFiles(*document.trace, io.files, FileColumn::kTotal, true);
  EXPECT_EQ(order[0], 0U);
  EXPECT_LT(io.files[0].wall, io.files[1].wall);
  EXPECT_TRUE(io.decoded) << "the table then has a total for each file";
}

// The first files of the table were those of the first sample of each worker, which loads the
// decoder: 21 ms.
TEST(IoModelTest, AFileOfAWorkersFirstSampleIsNotSlowToDecode) {
  traces::TraceData data = testing::MakeGpuRun({});
  const StringId file = data.Intern("/data/train/0.jpg");
  double loading = 0;
  for (std::vector<traces::Span>& spans : data.spans) {
    const auto first = std::find_if(spans.begin(), spans.end(), [](const traces::Span& span) {
      return span.stage == traces::StageId::kDecode;
    });
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kRead) span.sample = wire::kNoSample;
      if (span.stage != traces::StageId::kDecode) continue;
      span.sample = wire::kNoSample;
      span.duration = TimeNs{span.duration.value / (&span == &*first ? 1 : 100)};
      if (&span == &*first) loading += Seconds(span.duration);
    }
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const IoModel io = IoOf(document);
  const auto found = std::find_if(io.files.begin(), io.files.end(),
                                  [&](const FileRow& row) { return row.object == file; });
  ASSERT_NE(found, io.files.end());
  EXPECT_NEAR(found->first_decode, loading, 1e-6);
  EXPECT_GT(loading, 0);
  EXPECT_LT(found->decode, loading / 2);
  EXPECT_LT(io.files[0].total() - found->total(), loading / 2) << "it is like the others";
  EXPECT_TRUE(found->total_known()) << "it was decoded for other samples too";
  FileRow once;
  once.first_decode = 0.02;
  EXPECT_FALSE(once.total_known());
}

TEST(IoModelTest, IdsOfSamplesAreWholeOrLeftOut) {
  FileRow file;
  EXPECT_EQ(SamplesText(file, 3), "–");
  file.samples = {279, 1479, 0};
  file.sample_count = 2;
  EXPECT_EQ(SamplesText(file, 3), "279, 1479");
  EXPECT_EQ(SamplesText(file, 1), "279, …");
  EXPECT_EQ(SamplesText(file, 0), "…");
  file.more_samples = true;
  EXPECT_EQ(SamplesText(file, 3), "279, 1479, …");
}

TEST(IoModelTest, ASizeThatWasNotRecordedIsAnEstimate) {
  traces::TraceData data = testing::MakeGpuRun({});
  const auto set_of = [](const traces::TraceData& made) {
    const Document document = testing::DocumentOf(traces::MakeTrace(traces::TraceData(made)));
    return DataSetOf(*document.trace, document.analysis->report);
  };
  EXPECT_TRUE(set_of(data).estimated);
  data.facts["dataset.bytes"] = "123000";
  EXPECT_EQ(set_of(data).bytes, 123'000);
  EXPECT_FALSE(set_of(data).estimated);
}

TEST(IoModelTest, WhatWouldTellTheDiskNamesTheFolderIfItIsKnown) {
  IoModel io;
  const auto said = [&] { return HowToKnowStorage(io, Language::kEnglish); };
  EXPECT_EQ(said(), "not known: penstock record --data FOLDER -- ...");
  io.folder = "/";
  EXPECT_EQ(said(), "not known: penstock record --data FOLDER -- ...");
  io.folder = "/data/train/";
  EXPECT_EQ(said(), "not known: penstock record --data /data/train/ -- ...");
}

TEST(IoModelTest, AFilesSlowestReadIsFoundInTheTimeline) {
  const Document document = DocumentFor();
  const IoModel io = IoOf(document);
  const auto span = FindSpan(*document.timeline, io.files[0].slowest);
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(document.timeline->stage(*span), traces::StageId::kRead);
  EXPECT_EQ(document.timeline->detail(*span).object, io.files[0].object);
}

TEST(IoModelTest, WhatStorageDidNotGiveCameFromTheCache) {
  const IoModel io = IoOf(DocumentFor());
  ASSERT_EQ(io.sight, CacheSight::kKnown);
  EXPECT_NEAR(static_cast<double>(io.disk_bytes), 1e7, 1e6);  // two workers read 5 MB each
  EXPECT_NEAR(io.cached, 0.75, 0.03);
  EXPECT_EQ(IoOf(DocumentFor({.counters = false})).sight, CacheSight::kNoCounter);
}

// The training process loads libraries at 1 GB/s and reads no data.
TEST(IoModelTest, StorageIsThatOfTheReadersAndItsCurveSaysWhatItAverages) {
  traces::TraceData data = testing::MakeGpuRun({});
  for (int i = 0; i <= 5; ++i) {
    analyzer::testing::AddCounter(data, "disk_read_bytes", 0, 1000 + 100.0 * i, 1e8 * i);
  }
  const Document document = testing::DocumentOf(traces::MakeTrace(std::move(data)));
  const IoModel io = IoOf(document);
  const auto& tracks = document.analysis->counters;
  const auto all = std::find_if(tracks.begin(), tracks.end(), [](const CounterTrack& track) {
    return track.kind == CounterKind::kDisk;
  });
  ASSERT_NE(all, tracks.end());
  EXPECT_GT(all->most, 1e9);
  EXPECT_EQ(all->process, CounterTrack::kAll);
  EXPECT_LT(io.disk.most(), 1e7);
  const std::string width = analyzer::DurationText(io.disk.width);
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    EXPECT_NE(RatesTitle(io, language).find(width), std::string::npos) << width;
  }
  EXPECT_NE(TextOf(Text::kIoDiskLine, Language::kEnglish).find("readers"), std::string::npos);
  EXPECT_NE(TextOf(Text::kIoDiskLine, Language::kChinese).find("读取进程"), std::string::npos);
}

// A worker loads 6.4 MB of libraries and reads 1.1 MB of data before its counter is read first. All
// of it had been in one bin of 24 ms: a peak of 275 MB/s that was not there.
TEST(IoModelTest, LibrariesThatAWorkerLoadsAtItsStartAreNoData) {
  traces::TraceData data = testing::MakeGpuRun({.counters = false});
  for (int i = 1; i <= 20; ++i) {
    analyzer::testing::AddCounter(data, "disk_read_bytes", 1, 1000 + 100.0 * i, 6.4e6);
  }
  const IoModel io = IoOf(testing::DocumentOf(traces::MakeTrace(std::move(data))));
  ASSERT_EQ(io.sight, CacheSight::kKnown);
  EXPECT_NEAR(static_cast<double>(io.disk_bytes), 1.1e6, 0.2e6);
  EXPECT_LT(io.disk.most(), 15e6);
  EXPECT_GT(io.disk.value.front(), 0);
}

TEST(IoModelTest, MemoryAndRemoteFileSystemsAreSaidToBeSo) {
  traces::TraceData data = testing::MakeGpuRun({});
  data.facts["dataset.storage"] = "tmpfs memory";
  EXPECT_EQ(IoOf(testing::DocumentOf(traces::MakeTrace(data))).sight, CacheSight::kNoDisk);
  data.facts["dataset.storage"] = "nfs4 network";
  EXPECT_EQ(IoOf(testing::DocumentOf(traces::MakeTrace(data))).sight, CacheSight::kElsewhere);
}

TEST(IoModelTest, WhatCameOverTheNetworkIsNotOfThePageCache) {
  traces::TraceData data = testing::MakeGpuRun({});
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage == traces::StageId::kRead) span.flags |= wire::kFlagNetwork;
    }
  }
  const IoModel io = IoOf(testing::DocumentOf(traces::MakeTrace(data)));
  EXPECT_EQ(io.network, io.bytes);
  EXPECT_EQ(io.sight, CacheSight::kNetwork);
}

TEST(IoModelTest, ASelectionCountsTheReadsThatBeginInIt) {
  const Document document = DocumentFor();
  const std::int64_t half = document.timeline->length / 2;
  const IoModel first = IoOf(document, TimeRange{0, half});
  const IoModel second = IoOf(document, TimeRange{half, document.timeline->length + 1});
  EXPECT_GT(first.reads, 0U);
  EXPECT_GT(second.reads, 0U);
  EXPECT_EQ(first.reads + second.reads, IoOf(document).reads);
}

TEST(IoModelTest, SizesHoldEveryReadAndTheirMedianIsOne) {
  const IoModel io = IoOf(DocumentFor());
  std::uint64_t reads = 0;
  for (std::size_t i = 0; i < io.sizes.reads.size(); ++i) {
    reads += io.sizes.reads[i];
    if (io.sizes.reads[i] == 0) continue;
    EXPECT_LE(io.sizes.EdgeOf(i), 100'000);
    EXPECT_GT(io.sizes.EdgeOf(i + 1), 100'000);
  }
  EXPECT_EQ(reads, io.reads);
  EXPECT_DOUBLE_EQ(io.sizes.median, 100'000);
}

TEST(IoModelTest, AReadLiesBetweenTheEdgesOfItsSize) {
  for (const std::uint64_t bytes :
       {1ULL, 9ULL, 10ULL, 12ULL, 13ULL, 79ULL, 80ULL, 99ULL, 100ULL, 999'999'999'999ULL}) {
    traces::TraceData data = testing::MakeGpuRun({});
    for (auto& spans : data.spans) {
      for (traces::Span& span : spans) {
        if (span.stage == traces::StageId::kRead) span.bytes = Bytes{bytes};
      }
    }
    const IoModel io = IoOf(testing::DocumentOf(traces::MakeTrace(std::move(data))));
    for (std::size_t i = 0; i < io.sizes.reads.size(); ++i) {
      if (io.sizes.reads[i] == 0) continue;
      EXPECT_LE(io.sizes.EdgeOf(i), static_cast<double>(bytes));
      EXPECT_GT(io.sizes.EdgeOf(i + 1), static_cast<double>(bytes));
    }
  }
}

TEST(IoModelTest, EdgesOfSizesAscendAndTheirRoundOnesAreRound) {
  const SizeBins sizes;
  int round = 0;
  for (std::size_t bin = 0; bin < 8 * SizeBins::kPerDecade; ++bin) {
    EXPECT_LT(sizes.EdgeOf(bin), sizes.EdgeOf(bin + 1));
    if (!sizes.IsRound(bin)) continue;
    ++round;
    double edge = sizes.EdgeOf(bin);
    while (edge >= 10) edge /= 10;
    EXPECT_TRUE(edge == 1 || edge == 2 || edge == 5) << edge;
  }
  EXPECT_EQ(round, 24);
}

TEST(IoModelTest, ATraceWithoutReadsOrFilesIsEmptyAndNoMore) {
  EXPECT_EQ(IoOf(testing::DocumentOf(traces::MakeTrace({}))).reads, 0U);
  const IoModel io = IoOf(DocumentFor({.files = false}));
  EXPECT_FALSE(io.paths);
  EXPECT_FALSE(io.decoded);
  EXPECT_TRUE(io.files.empty());
  EXPECT_GT(io.reads, 0U);
}

// The curve of 840 equal reads went up and down between 43 and 58 MB/s.
TEST(IoModelTest, AsFewReadsAsInABinMakeNoWaves) {
  const IoModel few = IoOf(DocumentFor());
  EXPECT_EQ(few.seen.value.size(), 24U);
  EXPECT_EQ(few.disk.value.size(), few.seen.value.size());
  EXPECT_NEAR(few.seen.to(), static_cast<double>(DocumentFor().timeline->length) * 1e-9, 1e-6);
  EXPECT_NEAR(few.seen.value[10], few.seen.value[11], 0.2 * few.seen.value[10]);
  std::vector<testing::TestSpan> reads;
  for (int i = 0; i < 4'000; ++i)
    reads.push_back({i * 1'000'000LL, 500'000, traces::StageId::kRead});
  const IoModel many = IoOf(testing::DocumentOf(testing::MakeThreads({reads})));
  EXPECT_EQ(many.seen.value.size(), 240U);
}

TEST(SeriesTest, JoinedBinsKeepTheSum) {
  Series series(0, 12, 12);
  for (std::size_t i = 0; i < 12; ++i) series.value[i] = static_cast<double>(i);
  series.Join(3);
  ASSERT_EQ(series.value.size(), 4U);
  EXPECT_DOUBLE_EQ(series.value[0], 0 + 1 + 2);
  EXPECT_DOUBLE_EQ(series.value[3], 9 + 10 + 11);
  EXPECT_DOUBLE_EQ(series.to(), 12);
}

TEST(IoModelTest, RulesThatNeedALoaderAreSaidNotToBeCheckedHereToo) {
  const auto trace = traces::MakeTrace({});
  const analyzer::Report report = analyzer::BuildReport(*trace, "t");
  ASSERT_FALSE(report.diagnosis.loader);
  const auto unchecked = UncheckedAmong(report, kReadFindings);
  ASSERT_EQ(unchecked.size(), 1U);
  EXPECT_TRUE(unchecked[0].ids.empty());
  analyzer::Report of_one = report;
  of_one.not_checked[0].ids = {"small-files", "slow-worker"};
  ASSERT_EQ(UncheckedAmong(of_one, kReadFindings).size(), 1U);
  EXPECT_EQ(UncheckedAmong(of_one, kReadFindings)[0].ids.size(), 1U);
  of_one.not_checked[0].ids = {"slow-worker"};
  EXPECT_TRUE(UncheckedAmong(of_one, kReadFindings).empty());
}

TEST(SeriesTest, SpreadsByTheShareOfEachBin) {
  Series series(0, 10, 10);
  series.Spread(1.5, 3.5, 8);
  EXPECT_DOUBLE_EQ(series.value[1], 2);
  EXPECT_DOUBLE_EQ(series.value[2], 4);
  EXPECT_DOUBLE_EQ(series.value[3], 2);
  series.Spread(9, 11, 2);   // half of it lies outside
  series.Spread(20, 30, 5);  // all of it lies outside
  series.Spread(4, 4, 1);    // no length
  EXPECT_DOUBLE_EQ(series.sum(), 10);
  EXPECT_DOUBLE_EQ(series.At(4.2), 1);
  EXPECT_DOUBLE_EQ(series.At(-1), 0);
}

// The ranks of a host use its page cache in common.
TEST(IoModelTest, ADataSetIsComparedWithTheMemoryOfTheWholeHost) {
  traces::TraceData data = analyzer::testing::SideBySide({}, 2);
  data.facts["memory.total"] = "16000000000";
  const auto trace = traces::MakeTrace(std::move(data));
  EXPECT_DOUBLE_EQ(DataSetOf(*trace, analyzer::BuildReport(*trace, "t")).memory, 16e9);
}

}  // namespace
}  // namespace penstock::gui
