// SPDX-License-Identifier: Apache-2.0
//
// What a trace tells about the data: whether it consists of pictures, in which format, with how
// many pixels. Also tests that figures for pictures or JPEG files are not used for other data.
#include "analyzer/model/material.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/model/file_formats.h"
#include "analyzer/model/file_returns.h"
#include "analyzer/plan/levers.h"
#include "analyzer/predict/changes.h"
#include "analyzer/words/assumptions.h"
#include "tests/analyzer/synthetic.h"

namespace penstock::analyzer {
namespace {

using testing::Always;
using testing::MakeSynthetic;
using testing::Synthetic;
using traces::StageId;

// A run whose bottleneck is decoding. A batch has four samples, each with a read and a decode span.
Synthetic MaterialRun(std::string decoder, std::string file) {
  Synthetic run;
  run.decoder = std::move(decoder);
  run.file = std::move(file);
  run.costs = Always({.read = 1, .decode = 30, .augment = 2, .collate = 0.5, .step = 2});
  return run;
}

Diagnosis DiagnosisOf(traces::TraceData data) {
  return Diagnose(*traces::MakeTrace(std::move(data)));
}

Diagnosis DiagnosisOf(const std::string& decoder, const std::string& file) {
  return DiagnosisOf(MakeSynthetic(MaterialRun(decoder, file)));
}

Predicted<Changed> ApplyTo(const Diagnosis& diagnosis, const Changes& changes) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  return ApplyChanges(loader.pipeline, loader.facts, loader.material, changes,
                      BuiltInDeviceCosts("NVIDIA A100-SXM4-40GB"));
}

bool Offers(const Diagnosis& diagnosis, std::string_view lever) {
  for (const Lever& each : FindLevers(diagnosis, {}, false).all) {
    if (each.id == lever) return true;
  }
  return false;
}

// Most texts are short, and a few fill batches that are ten times as large.
TEST(MaterialTest, ASampleHasTheMeanOfItsBatches) {
  traces::TraceData data = MakeSynthetic(MaterialRun("jpeg", ""));
  std::size_t collated = 0;
  for (std::vector<traces::Span>& spans : data.spans) {
    for (traces::Span& span : spans) {
      const bool carries = span.stage == StageId::kCollate || span.stage == StageId::kPut ||
                           span.stage == StageId::kGet || span.stage == StageId::kFetch;
      if (!carries) continue;
      span.bytes = Bytes{span.batch.index % 4 == 0 ? 4000U : 400U};
      collated += span.stage == StageId::kCollate ? 1 : 0;
    }
  }
  ASSERT_GT(collated, 0U);
  EXPECT_NEAR(DiagnosisOf(std::move(data)).loader->material.sample_bytes, 1300.0 / 4, 10);
}

TEST(PictureFormatTest, IsThatOfTheExtension) {
  EXPECT_EQ(PictureFormat("/data/a.b/c.JPG"), "jpeg");
  EXPECT_EQ(PictureFormat("c.jpeg"), "jpeg");
  EXPECT_EQ(PictureFormat("n01440764_10026.JPEG"), "jpeg");
  EXPECT_EQ(PictureFormat("x.tif"), "tiff");
  EXPECT_EQ(PictureFormat("x.PNG"), "png");
  for (const char* other :
       {"", "jpeg", "/data.jpg/00012.tar", "a.npy", "a.mp4", "a.jpg.part", "a."}) {
    EXPECT_EQ(PictureFormat(other), "") << other;
  }
}

TEST(FileFormatsTest, TheFormatOfMostBytesCounts) {
  traces::TraceData data = MakeSynthetic(MaterialRun("PIL.load", "a.jpg"));
  const StringId mask = data.Intern("a.png");
  const auto with = [&](std::size_t every) {
    traces::TraceData changed = data;
    for (auto& spans : changed.spans) {
      std::size_t reads = 0;
      for (traces::Span& span : spans) {
        if (span.stage == StageId::kRead && reads++ % every == 0) span.object = mask;
      }
    }
    return DiagnosisOf(std::move(changed)).loader->material.format;
  };
  EXPECT_EQ(with(10), "jpeg");
  EXPECT_EQ(with(2), "mixed");
  EXPECT_EQ(with(1), "png");
}

TEST(FileFormatsTest, PicturesCountAfterManyOtherFiles) {
  traces::TraceData data;
  const StringId picture = data.Intern("a.jpg");
  std::vector<StringId> labels;
  for (int i = 0; i < 20'000; ++i) labels.push_back(data.Intern(std::to_string(i) + ".txt"));
  const std::unique_ptr<traces::Trace> trace = traces::MakeTrace(std::move(data));
  FileFormats formats(*trace);
  traces::Span read;
  read.stage = StageId::kRead;
  read.bytes = Bytes{10};
  for (const StringId label : labels) {
    read.object = label;
    formats.Add(read);
  }
  EXPECT_EQ(formats.Main(), "");
  read.object = picture;
  read.bytes = Bytes{1'000'000};
  formats.Add(read);
  EXPECT_EQ(formats.Main(), "jpeg");
}

TEST(FileFormatsTest, AFewPicturesBesideArchivesTellNothing) {
  Synthetic run = MaterialRun("PIL.load", "shard-000.tar");
  traces::TraceData data = MakeSynthetic(run);
  const StringId logo = data.Intern("logo.png");
  for (auto& spans : data.spans) {
    for (traces::Span& span : spans) {
      if (span.stage != StageId::kRead) continue;
      span.object = logo;
      break;
    }
  }
  EXPECT_EQ(DiagnosisOf(std::move(data)).loader->material.format, "");
}

TEST(MaterialTest, TheNameOfADecoderTellsWhatItGives) {
  for (const char* name : {"PIL.load", "cv2.imdecode", "cv::imread", "torchvision.decode_jpeg",
                           "datasets.Image", "simplejpeg.decode_jpeg", "jpeg", "png",
                           "tensorflow::png", "kornia_rs.read_image", "torchcodec.decode_image"}) {
    EXPECT_EQ(DiagnosisOf(name, "").loader->material.media, Media::kPictures) << name;
  }
  for (const char* name :
       {"av.to_ndarray", "ffmpeg", "cv2.VideoCapture.read", "decord.get_batch",
        "torchcodec.get_frames_at", "soundfile.read", "nibabel.get_unscaled", "numpy.load",
        "h5py.Dataset", "parquet.read_row_group", "imageio_ffmpeg.read_frames"}) {
    const Material material = DiagnosisOf(name, "").loader->material;
    EXPECT_EQ(material.media, Media::kOther) << name;
    EXPECT_EQ(material.decoder, "") << name;
    EXPECT_EQ(material.decode_call, name);
  }
  EXPECT_EQ(DiagnosisOf("Decoder", "").loader->material.media, Media::kUnknown);
}

TEST(MaterialTest, ADecoderMayNameTheFormat) {
  EXPECT_EQ(DiagnosisOf("torchvision.decode_png", "a.tar").loader->material.format, "png");
  EXPECT_EQ(DiagnosisOf("simplejpeg.decode_jpeg", "a.tar").loader->material.format, "jpeg");
  EXPECT_EQ(DiagnosisOf("PIL.load", "a.tar").loader->material.format, "");
  for (const char* name : {"imagecodecs.jpeg2k_decode", "imagecodecs.jpegxl_decode"}) {
    const Material material = DiagnosisOf(name, "a.tar").loader->material;
    EXPECT_EQ(material.media, Media::kPictures) << name;
    EXPECT_FALSE(material.may_be_jpeg()) << name;
    EXPECT_EQ(material.decoder, "") << name;
  }
}

// datasets.Image decodes a picture, and PIL.convert converts it. Both calls record the bytes of the
// picture's pixels.
TEST(MaterialTest, APictureThatPassesTwoCallsIsOnePicture) {
  const Synthetic run = MaterialRun("PIL.convert", "a.jpg");
  traces::TraceData data = MakeSynthetic(run);
  const StringId load = data.Intern("datasets.Image");
  for (auto& spans : data.spans) {
    std::vector<traces::Span> more;
    for (traces::Span span : spans) {
      if (span.stage != StageId::kDecode) {
        more.push_back(span);
        continue;
      }
      const TimeNs half{span.duration.value / 2};
      span.duration = half;
      span.cpu = half;
      more.push_back(span);
      more.back().name = load;
      span.start = TimeNs{span.start.value + half.value};
      more.push_back(span);
    }
    spans = std::move(more);
  }
  const Material material = DiagnosisOf(std::move(data)).loader->material;
  EXPECT_EQ(material.media, Media::kPictures);
  EXPECT_EQ(material.decoded_bytes, static_cast<double>(run.decoded_bytes));
}

// __getitems__ makes all samples of a batch in one call, so one sample span covers them.
TEST(MaterialTest, OneCallMayMakeAWholeBatch) {
  const Synthetic run = MaterialRun("PIL.load", "a.jpg");
  traces::TraceData data = MakeSynthetic(run);
  for (auto& spans : data.spans) {
    traces::BatchKey last;
    std::erase_if(spans, [&](const traces::Span& span) {
      if (span.stage != StageId::kSample) return false;
      const bool further = span.batch == last;
      last = span.batch;
      return further;
    });
    for (traces::Span& span : spans) {
      if (span.stage == StageId::kSample) span.duration = TimeNs{4 * span.duration.value};
    }
  }
  const Diagnosis diagnosis = DiagnosisOf(std::move(data));
  EXPECT_EQ(diagnosis.run.loader().samples_per_batch, 4U);
  const Material& material = diagnosis.loader->material;
  EXPECT_EQ(material.decoded_bytes, static_cast<double>(run.decoded_bytes));
  EXPECT_EQ(material.file_bytes, static_cast<double>(run.file_bytes));
}

// Each of the dataset's 1000 items is a batch of 16 samples, which is read from a file of its own.
TEST(MaterialTest, ADatasetOfBatchesHasTheBytesOfAllItsSamples) {
  Synthetic run = MaterialRun("PIL.load", "a.jpg");
  run.batch_size = 1;
  traces::TraceData data = MakeSynthetic(run);
  auto& facts = data.processes[0].facts;
  facts["loader.0.dataset_len"] = "1000";
  traces::TraceData samples = data;
  facts.erase("loader.0.batch_size");
  facts["loader.0.batch_length"] = "16";
  const auto all = 1000 * static_cast<double>(run.file_bytes);
  EXPECT_DOUBLE_EQ(DiagnosisOf(std::move(data)).loader->material.dataset_bytes, all);
  EXPECT_DOUBLE_EQ(DiagnosisOf(std::move(samples)).loader->material.dataset_bytes, all);
}

// The 800 samples of a run, from a dataset of a million that comes back to the same `files` files,
// each of a size of its own.
traces::TraceData Returning(std::int64_t files, bool one_size = false) {
  traces::TraceData data = MakeSynthetic(MaterialRun("PIL.load", "a.jpg"));
  data.processes[0].facts["loader.0.dataset_len"] = "1000000";
  std::vector<StringId> names;
  for (std::int64_t i = 0; i < files; ++i) {
    names.push_back(data.Intern("/data/" + std::to_string(i) + ".jpg"));
  }
  for (auto& spans : data.spans) {
    std::int64_t sample = 0;
    for (traces::Span& span : spans) {
      if (span.stage == StageId::kSample) sample = span.sample;
      if (span.stage != StageId::kRead) continue;
      const std::int64_t file = sample % files;
      span.sample = sample;
      span.object = names[static_cast<std::size_t>(file)];
      span.bytes = Bytes{static_cast<std::uint64_t>(90'000 + (one_size ? 0 : 1000 * file))};
    }
  }
  return data;
}

double DatasetBytesOf(traces::TraceData data) {
  return DiagnosisOf(std::move(data)).loader->material.dataset_bytes;
}

TEST(MaterialTest, ADatasetThatComesBackToItsFilesIsAsLargeAsTheyAre) {
  EXPECT_DOUBLE_EQ(DatasetBytesOf(Returning(100)), 100 * 90'000 + 1000 * 4950);
  EXPECT_EQ(DatasetBytesOf(Returning(700)), 0);  // some files may not have been seen
}

TEST(MaterialTest, FilesOfTheirOwnOrOfRecordsAreNoReturn) {
  EXPECT_NEAR(DatasetBytesOf(Returning(800)), 1e6 * (90'000 + 399'500), 1e6);
  EXPECT_NEAR(DatasetBytesOf(Returning(100, true)), 1e6 * 90'000, 1e6);
}

TEST(FileReturnsTest, KeepsAPartOfManyFiles) {
  FileReturns files;
  for (std::uint32_t read = 0; read < 200'000; ++read) {
    traces::Span span;
    span.object = StringId{1 + read % 100'000};
    span.bytes = Bytes{1000 + read % 100'000};
    span.sample = read;
    files.Add(span);
  }
  EXPECT_NEAR(files.Seen().bytes, 100'000 * 51'000.0, 0.1 * 100'000 * 51'000);
  EXPECT_EQ(files.Seen().returned, 1);
}

// Half of the pictures are decoded by one call, half by another.
TEST(MaterialTest, CallsForDifferentPicturesAddUp) {
  const Synthetic run = MaterialRun("torchvision.decode_jpeg", "a.tar");
  traces::TraceData data = MakeSynthetic(run);
  const StringId png = data.Intern("torchvision.decode_png");
  for (auto& spans : data.spans) {
    std::size_t decoded = 0;
    for (traces::Span& span : spans) {
      if (span.stage == StageId::kDecode && decoded++ % 2 == 0) span.name = png;
    }
  }
  const Material material = DiagnosisOf(std::move(data)).loader->material;
  EXPECT_EQ(material.decoded_bytes, static_cast<double>(run.decoded_bytes));
  EXPECT_EQ(material.format, "mixed");
}

// Pillow decodes a quarter of the files. Its name tells no format.
TEST(MaterialTest, ADecoderWithoutAFormatDoesNotMakeFilesMixed) {
  for (const auto& [file, format] : {std::pair("a.jpg", "jpeg"), std::pair("a.tar", "")}) {
    traces::TraceData data = MakeSynthetic(MaterialRun("torchvision.decode_jpeg", file));
    const StringId pillow = data.Intern("PIL.load");
    for (auto& spans : data.spans) {
      std::size_t decoded = 0;
      for (traces::Span& span : spans) {
        if (span.stage == StageId::kDecode && decoded++ % 4 == 0) span.name = pillow;
      }
    }
    EXPECT_EQ(DiagnosisOf(std::move(data)).loader->material.format, format) << file;
  }
}

TEST(MaterialTest, FiguresForPicturesAreNotUsedForVideo) {
  const Diagnosis video = DiagnosisOf("av.to_ndarray", "/clips/a.mp4");
  Changes smaller;
  smaller.resize = 128;
  Changes decoder;
  decoder.decoder = "simplejpeg";
  Changes device;
  device.gpu_augment = true;
  for (const Changes& changes : {smaller, decoder, device}) {
    const auto changed = ApplyTo(video, changes);
    ASSERT_FALSE(changed);
    EXPECT_NE(English(changed.error().why).find("av.to_ndarray decodes something else"),
              std::string::npos);
  }
  EXPECT_FALSE(Offers(video, "stored_size"));
  EXPECT_FALSE(Offers(DiagnosisOf("cv2.VideoCapture.read", "/clips/a.mp4"), "decoder"));
}

TEST(MaterialTest, FiguresForJpegAreNotUsedForOtherFormats) {
  Changes decoder;
  decoder.decoder = "simplejpeg";
  Changes device;
  device.gpu_decode = device.gpu_augment = true;
  const Diagnosis png = DiagnosisOf("PIL.load", "/data/a.png");
  for (const Changes& changes : {decoder, device}) {
    const auto changed = ApplyTo(png, changes);
    ASSERT_FALSE(changed);
    EXPECT_NE(English(changed.error().why).find("these files are png"), std::string::npos);
  }
  EXPECT_FALSE(Offers(png, "decoder"));
  const Diagnosis jpeg = DiagnosisOf("PIL.load", "/data/a.jpg");
  EXPECT_TRUE(Offers(jpeg, "decoder"));
  const auto known = ApplyTo(jpeg, decoder);
  ASSERT_TRUE(known);
  EXPECT_EQ(English(known->notes.at(0)).find("if the files are JPEG"), std::string::npos);
  const Diagnosis shards = DiagnosisOf("PIL.load", "/data/a.tar");
  const auto changed = ApplyTo(shards, decoder);
  ASSERT_TRUE(changed);
  EXPECT_NE(English(changed->notes.at(0)).find("if the files are JPEG"), std::string::npos);
}

// Seconds by which batches of bytes instead of floats lengthen a step, and the pipeline then.
struct Conversion {
  double longer = 0;
  double step = 0;
  Changed changed;
};

Conversion Converted(const Diagnosis& diagnosis, const DeviceCosts& costs) {
  const LoaderDiagnosis& loader = *diagnosis.loader;
  Changes changes;
  changes.transfer = "f32:u8";
  Conversion found;
  found.changed = *ApplyChanges(loader.pipeline, loader.facts, loader.material, changes, costs);
  found.step = found.changed.pipeline.epochs[0].batches[50].step;
  found.longer = found.step - loader.pipeline.epochs[0].batches[50].step;
  return found;
}

TEST(ConversionTest, WithoutADeviceTheLoopConverts) {
  const Diagnosis diagnosis = DiagnosisOf("PIL.load", "a.jpg");
  ASSERT_FALSE(diagnosis.loader->material.device);
  const Conversion loop = Converted(diagnosis, BuiltInDeviceCosts(""));
  EXPECT_GT(loop.longer, 4 * 150'528 * 0.1e-9);
  const Pipeline& changed = loop.changed.pipeline;
  const double before = diagnosis.loader->pipeline.step_load * (loop.step - loop.longer);
  EXPECT_NEAR(changed.step_load * loop.step, before + loop.longer, 1e-6);
  EXPECT_TRUE(std::any_of(loop.changed.notes.begin(), loop.changed.notes.end(),
                          [](const Statement& note) { return note.Is(words::kConversionInLoop); }));
}

TEST(ConversionTest, ADeviceThatWasRecordedOrIsGivenConverts) {
  traces::TraceData data = MakeSynthetic(MaterialRun("PIL.load", "a.jpg"));
  const Diagnosis without = DiagnosisOf(data);
  data.facts["gpu.model"] = "NVIDIA A100-SXM4-40GB";
  const Diagnosis with = DiagnosisOf(std::move(data));
  const DeviceCosts a100 = BuiltInDeviceCosts("NVIDIA A100-SXM4-40GB");
  const auto given = ReadDeviceCosts("device NVIDIA A100\n", a100);
  ASSERT_TRUE(given);
  const double loop = Converted(without, a100).longer;
  EXPECT_LT(Converted(with, a100).longer, loop / 20);
  EXPECT_EQ(Converted(without, *given).longer, Converted(with, a100).longer);
}

TEST(ConversionTest, ADeviceThatAugmentsConvertsToo) {
  const Diagnosis diagnosis = DiagnosisOf("PIL.load", "a.jpg");
  ASSERT_FALSE(diagnosis.loader->material.device);
  Changes changes;
  changes.transfer = "f32:u8";
  changes.gpu_augment = true;
  const auto changed = ApplyTo(diagnosis, changes);
  ASSERT_TRUE(changed);
  EXPECT_FALSE(std::any_of(changed->notes.begin(), changed->notes.end(), [](const Statement& note) {
    return note.Is(words::kConversionInLoop);
  }));
}

TEST(ConversionTest, ADeviceOfTheHostThatTheRunDoesNotUseConvertsNothing) {
  traces::TraceData data = MakeSynthetic(MaterialRun("PIL.load", "a.jpg"));
  data.facts["gpu.model"] = "NVIDIA A100-SXM4-40GB";
  data.facts["gpu.0.used"] = "no";
  data.facts["gpu.1.used"] = "no";
  EXPECT_FALSE(DiagnosisOf(data).loader->material.device);
  data.facts["gpu.1.used"] = "open";
  EXPECT_TRUE(DiagnosisOf(std::move(data)).loader->material.device);
}

TEST(ConversionTest, ThePlanNamesThePlace) {
  traces::TraceData data = MakeSynthetic(MaterialRun("PIL.load", "a.jpg"));
  data.processes[0].facts["loader.0.batch_types"] = "float32:602112";
  const auto change_of = [](const traces::TraceData& run) {
    for (const Lever& lever : FindLevers(DiagnosisOf(run), {}, false).all) {
      if (lever.id == "transfer_u8") return English(lever.change);
    }
    return std::string();
  };
  EXPECT_NE(change_of(data).find("in the training loop"), std::string::npos) << change_of(data);
  data.facts["gpu.model"] = "NVIDIA A100-SXM4-40GB";
  EXPECT_NE(change_of(data).find("on the device"), std::string::npos) << change_of(data);
}

}  // namespace
}  // namespace penstock::analyzer
