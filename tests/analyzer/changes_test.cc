// SPDX-License-Identifier: Apache-2.0
//
// Predicts changes of data, storage, decoder and device from one synthetic trace, and compares each
// with a trace in which the change was made.
#include "analyzer/predict/changes.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "analyzer/predict/decoders.h"
#include "analyzer/report/grid_report.h"
#include "analyzer/simulate/simulate.h"
#include "analyzer/whatif/grid.h"
#include "analyzer/whatif/tried_changes.h"
#include "tests/analyzer/synthetic.h"
#include "tests/paths.h"

namespace penstock::analyzer {
namespace {

using testing::Costs;
using testing::Synthetic;
using testing::SyntheticTrace;

// Two workers are slower than the training loop; a batch has four samples.
Synthetic Bound(Costs costs) {
  Synthetic run;
  run.decoder = "PIL.Image.load";
  run.transform = "ToTensor";
  run.costs = testing::Always(costs);
  return run;
}

const Costs kCosts{8, 16, 6, 4, 1, 1, 3, 2};

double RateOf(const Costs& costs) {
  return FindSteadyState(BuildRunModel(*SyntheticTrace(Bound(costs))).loader()).rate.estimate;
}

Predicted<Grid> Predict(const Changes& changes, const Costs& recorded = kCosts) {
  GridRequest request;
  request.changes = changes;
  request.device_costs = BuiltInDeviceCosts("NVIDIA A100-SXM4-40GB");
  return PredictGrid(Diagnose(*SyntheticTrace(Bound(recorded))), request);
}

void ExpectPredicted(const Changes& changes, const Costs& changed) {
  const Predicted<Grid> grid = Predict(changes);
  ASSERT_TRUE(grid) << grid.error().error().message;
  ASSERT_EQ(grid->configurations.size(), 1u);
  const double truth = RateOf(changed);
  EXPECT_GT(std::abs(truth / RateOf(kCosts) - 1), 0.03);  // else nothing is tested
  EXPECT_NEAR(grid->configurations.front().predicted.rate.estimate, truth, 0.02 * truth);
  EXPECT_FALSE(grid->notes.empty());
}

TEST(ChangesTest, AFasterDecoderIsWorthItsRatio) {
  Changes changes;
  changes.decoder = "cv2";
  Costs changed = kCosts;
  changed.decode /= FindDecoder("opencv")->ratio;
  ExpectPredicted(changes, changed);
}

TEST(ChangesTest, ADatasetInMemoryIsCopied) {
  Changes changes;
  changes.ram_cache = true;
  Costs changed = kCosts;
  changed.read = 4 * 100'000 / 2e9 * 1e3;
  ExpectPredicted(changes, changed);
}

TEST(ChangesTest, SmallerPicturesDecodeInProportion) {
  Changes changes;
  changes.resize = 258;  // half of 516, the long side of 200,000 pixels at 4 : 3
  Costs changed = kCosts;
  changed.decode *= 258.0 * 258 / (200'000 * 4 / 3.0);
  ExpectPredicted(changes, changed);
}

TEST(ChangesTest, SmallerFilesInMemoryAreCopiedInProportion) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(Bound(kCosts)));
  Pipeline pipeline = diagnosis.loader->pipeline;
  for (Demand* demand : BatchesOf(pipeline)) demand->read.cpu = 0;
  Changes changes;
  changes.ram_cache = true;
  changes.resize = 258;  // about half of the long side
  const auto changed = ApplyChanges(pipeline, diagnosis.loader->facts, diagnosis.loader->material,
                                    changes, BuiltInDeviceCosts(""));
  ASSERT_TRUE(changed);
  const double kept = 258.0 * 258 / (200'000 * 4 / 3.0);
  const double copy = 4 * kept * 100'000 / 2e9;
  EXPECT_NEAR(changed->pipeline.epochs[0].batches[50].read.wall, copy, 0.01 * copy);
}

TEST(ChangesTest, BytesInsteadOfFloatsTakeAQuarter) {
  Changes changes;
  changes.transfer = "f32:u8";  // the types of a batch were not recorded, so f32 is given here
  Costs changed = kCosts;
  changed.augment = 0;  // all of it was ToTensor
  changed.collate *= 0.25;
  changed.put *= 0.625;
  changed.get *= 0.625;
  changed.h2d *= 0.25;
  changed.step += 4 * 150'528 / 4 / 3e6 * BuiltInDeviceCosts("A100").convert.ms_per_megapixel;
  ExpectPredicted(changes, changed);
}

TEST(ChangesTest, StagesOnTheDeviceLengthenTheStep) {
  Changes changes;
  changes.gpu_decode = changes.gpu_augment = true;
  Costs changed = kCosts;
  const DeviceCosts costs = BuiltInDeviceCosts("A100");
  changed.decode = changed.augment = 0;
  changed.step += 4 * 0.2 * (costs.decode.ms_per_megapixel + costs.augment.ms_per_megapixel);
  const double ratio = 100'000 / 150'528.0;  // bytes of a file over bytes of a sample
  changed.collate *= ratio;
  changed.put *= 0.5 + 0.5 * ratio;
  changed.get *= 0.5 + 0.5 * ratio;
  changed.h2d *= ratio;
  ExpectPredicted(changes, changed);
}

TEST(ChangesTest, OverlappedDeviceTimeDoesNotCount) {
  const Costs step_bound{1, 4, 2, 0.5, 0.1, 0.3, 40, 0};
  Changes changes;
  changes.gpu_decode = changes.gpu_augment = true;
  const double alone = Predict(changes, step_bound)->configurations[0].predicted.rate.estimate;
  changes.gpu_overlap = 1;
  const double beside = Predict(changes, step_bound)->configurations[0].predicted.rate.estimate;
  EXPECT_GT(beside, 1.005 * alone);
}

TEST(ChangesTest, DeviceTimeIsNoTransformOfTheLoop) {
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(Bound(kCosts)));
  Pipeline pipeline = diagnosis.loader->pipeline;
  pipeline.step_transforms = 0.5;
  Changes changes;
  changes.gpu_decode = changes.gpu_augment = true;
  const auto changed = ApplyChanges(pipeline, diagnosis.loader->facts, diagnosis.loader->material,
                                    changes, BuiltInDeviceCosts(""));
  ASSERT_TRUE(changed);
  const double before = pipeline.epochs[0].batches[50].step;
  const double after = changed->pipeline.epochs[0].batches[50].step;
  ASSERT_GT(after, 1.05 * before);
  EXPECT_NEAR(changed->pipeline.step_transforms * after, 0.5 * before, 1e-3 * before);
}

TEST(ChangesTest, StorageThatIsSharedBoundsTheRate) {
  GridRequest request;
  request.workers = {2, 8};
  request.changes.disk = 20e6;  // 200 samples a second
  const Predicted<Grid> grid = PredictGrid(Diagnose(*SyntheticTrace(Bound(kCosts))), request);
  ASSERT_TRUE(grid);
  const double two = RateOf(kCosts);
  EXPECT_LT(grid->configurations[0].predicted.rate.estimate, 1.01 * std::min(200.0, two));
  EXPECT_NEAR(grid->configurations[1].predicted.rate.estimate, 200, 6);
}

TEST(ChangesTest, OtherCoresSpeedUpWhatComputes) {
  Changes faster;
  faster.core_speed = 2;
  Costs changed = kCosts;  // reading computes nothing, a copy waits for the device
  for (double* cost :
       {&changed.decode, &changed.augment, &changed.collate, &changed.put, &changed.get}) {
    *cost /= 2;
  }
  ExpectPredicted(faster, changed);
  // Two workers that compute all the time share one core.
  const Costs computing{0.1, 16, 6, 4, 0.1, 0.1, 1, 0};
  const auto rate = [&](double cores) {
    Changes changes;
    changes.cores = cores;
    return Predict(changes, computing)->configurations.front().predicted.rate.estimate;
  };
  EXPECT_NEAR(rate(1), rate(8) / 2, 0.02 * rate(8));
  EXPECT_NEAR(rate(16), rate(8), 1e-6);
  Changes one;
  one.cores = 1;
  EXPECT_TRUE(one.any());
  EXPECT_FALSE(Changes{}.any());
}

// Packing subtracts the part of a read's time that does not depend on its size. This part is not
// known if all sizes are equal.
TEST(ChangesTest, PackingTakesOffTheTimeToOpen) {
  Changes changes;
  changes.pack = true;
  const Predicted<Grid> refused = Predict(changes);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().error().message.find("not enough: needs"), std::string::npos);

  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(Bound(kCosts)));
  Material material = diagnosis.loader->material;
  material.reads.split = true;
  material.reads.mean = 2e-3;
  material.reads.latency = 1.5e-3;
  const auto packed = ApplyChanges(diagnosis.loader->pipeline, diagnosis.loader->facts, material,
                                   changes, BuiltInDeviceCosts(""));
  ASSERT_TRUE(packed);
  EXPECT_NEAR(packed->pipeline.epochs[0].batches[50].read.wall, 2e-3, 1e-5);  // it was 8 ms
}

TEST(ChangesTest, RefusesWhatItCannotKnow) {
  Changes changes;
  changes.decoder = "mine";
  EXPECT_EQ(Predict(changes).error().kind, ErrorKind::kUsage);
  changes = {};
  changes.gpu_decode = true;  // while the CPU still augments
  EXPECT_EQ(Predict(changes).error().kind, ErrorKind::kUsage);
  changes = {};
  changes.transfer = "f64";
  EXPECT_EQ(Predict(changes).error().kind, ErrorKind::kUsage);
  changes.transfer = "u8";  // the recorded types are not known
  EXPECT_EQ(Predict(changes).error().kind, ErrorKind::kInput);
  changes = {};
  changes.decoder = "opencv";
  Synthetic run = Bound(kCosts);
  run.decoder = "somebody's";
  GridRequest request;
  request.changes = changes;
  EXPECT_EQ(PredictGrid(Diagnose(*SyntheticTrace(run)), request).error().kind, ErrorKind::kInput);
}

TEST(ChangesTest, TheJsonTellsWhatWasAsked) {
  Changes changes;
  changes.gpu_augment = true;
  changes.ram_cache = true;
  simdjson::dom::parser parser;
  const auto parsed = parser.parse(GridJson(*Predict(changes)));
  ASSERT_FALSE(parsed.error());
  const simdjson::dom::element json = parsed.value_unsafe();
  EXPECT_TRUE(bool(json["changes"]["ram_cache"]));
  EXPECT_EQ(std::string_view(json["configurations"].at(0)["move_to_gpu"].at(0)), "augment");
  EXPECT_EQ(std::string_view(json["ceiling"]["source"]), "simulated");
}

TEST(ChangesTest, SeveralMachinesAreRowsOfOneGrid) {
  const Costs computing{0.1, 16, 6, 4, 0.1, 0.1, 1, 0};
  GridRequest request;
  request.workers = {2, 4};
  request.cores = {1, 2, 8};
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(Bound(computing)));
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->configurations.size(), 6u);
  EXPECT_EQ(grid->configurations[0].cores, 1);
  EXPECT_EQ(grid->configurations[5].cores, 8);
  request.changes.cores = 8;
  request.cores = {};
  const Predicted<Grid> one = PredictGrid(diagnosis, request);
  ASSERT_TRUE(one);
  EXPECT_EQ(grid->configurations[5].predicted.rate.estimate,
            one->configurations[1].predicted.rate.estimate);
  const std::string text = GridText(*grid, Colour::kOff);
  EXPECT_NE(text.find("  cores workers"), std::string::npos) << text;
  const auto note = text.find("on the cores of the table instead of 8");
  ASSERT_NE(note, std::string::npos) << text;
  EXPECT_EQ(text.find("instead of 8", note + 40), std::string::npos) << "it is said once";
  simdjson::dom::parser parser;
  const auto json = parser.parse(GridJson(*grid));
  EXPECT_EQ(double(json["configurations"].at(2)["cores"]), 2);
  EXPECT_NE(json["changes"]["cores"].error(), simdjson::SUCCESS) << "each row has its own";
}

TEST(ChangesTest, AMeasuredCeilingIsNotExceeded) {
  GridRequest request;
  request.workers = {1, 2, 8, 16};
  const Diagnosis diagnosis = Diagnose(*SyntheticTrace(Bound(kCosts)));
  request.fixed_rate = 600;  // the recorded loop could do 667 without data
  const Predicted<Grid> grid = PredictGrid(diagnosis, request);
  ASSERT_TRUE(grid);
  EXPECT_TRUE(grid->ceiling_measured);
  for (const Configuration& one : grid->configurations) {
    EXPECT_LE(one.predicted.rate.estimate, 600);
  }
  EXPECT_NEAR(grid->configurations[3].predicted.rate.estimate, 600, 30);
}

TEST(ChangesTest, ALongerStepDoesNotComputeMoreThanTheRecordedOne) {
  Diagnosis diagnosis = Diagnose(*SyntheticTrace(Bound(kCosts)));
  Pipeline pipeline = diagnosis.loader->pipeline;
  for (Demand& demand : pipeline.epochs[0].batches) demand.step = 1e-5;
  pipeline.step_load = 2;
  pipeline.step_load_known = false;
  Setting setting;
  setting.workers = 2;
  setting.step = 10e-3;
  EXPECT_NEAR(Apply(pipeline, setting, {}).step_load, 2e-3, 1e-9);
  pipeline.step_load_known = true;
  EXPECT_EQ(Apply(pipeline, setting, {}).step_load, 2);
  setting.step_load = 0.5;
  EXPECT_EQ(Apply(pipeline, setting, {}).step_load, 0.5);
}

TEST(TriedChangesTest, TheLargestGainIsFirstAndWhatIsNotKnownIsLeftOut) {
  traces::TraceData data = testing::MakeSynthetic(Bound(kCosts));
  data.processes[0].facts["loader.0.batch_types"] = "float32:602112";
  const auto tried = TryChanges(*Diagnose(*traces::MakeTrace(std::move(data))).loader);
  std::string options;
  double last = 1e9;
  for (const TriedChange& one : tried) {
    options += one.option + ";";
    EXPECT_LE(one.predicted.speedup, last);
    EXPECT_GE(one.predicted.speedup, 1.01);
    last = one.predicted.speedup;
  }
  // The run has no GPU and its files have one size: other changes do not apply.
  EXPECT_EQ(options, "--transfer u8;--ram-cache;--decoder simplejpeg;");
}

TEST(SuggestionTest, SaysWhatItNeedsWhereThereIsTooLittle) {
  Synthetic run = Bound(kCosts);
  for (const int batches : {1, 5, 19}) {
    run.batches = batches;
    const Suggestion suggestion = Diagnose(*SyntheticTrace(run)).loader->suggestion;
    EXPECT_NE(English(suggestion.missing).find("not enough: needs 16 batches"), std::string::npos)
        << batches;
    EXPECT_FALSE(suggestion.changes);
    EXPECT_EQ(suggestion.workers, run.workers);
    EXPECT_EQ(suggestion.prefetch, run.prefetch);
  }
  run.batches = 200;
  EXPECT_EQ(Diagnose(*SyntheticTrace(run)).loader->suggestion.missing, Statement{});
}

TEST(SuggestionTest, SaysThatOneBatchForEverIsNoRunOfTheLoader) {
  traces::TraceData data = testing::MakeSynthetic(Bound(kCosts));
  data.processes[0].facts["loader.0.fixed_batch"] = "true";
  const Diagnosis diagnosis = Diagnose(*traces::MakeTrace(std::move(data)));
  EXPECT_NE(English(diagnosis.loader->suggestion.missing).find("--fixed-batch"), std::string::npos);
  EXPECT_FALSE(PredictGrid(diagnosis, {}));
}

// The decoders' ratios in our table agree with the public curves.
TEST(DecodersTest, RatiosAreThoseOfThePublicCurves) {
  std::ifstream in(std::string(paths::kValidationData) + "/imread_curves.json");
  std::ostringstream text;
  text << in.rdbuf();
  simdjson::dom::parser parser;
  const auto parsed = parser.parse(text.str());
  ASSERT_FALSE(parsed.error());
  std::map<std::string, std::map<std::string, double>> alone;  // by machine and decoder
  for (const simdjson::dom::element row : parsed.value_unsafe()) {
    alone[std::string(std::string_view(row.at(0)))][std::string(std::string_view(row.at(1)))] =
        double(row.at(2));
  }
  ASSERT_EQ(alone.size(), 5u);
  for (const DecoderSpeed& speed : DecoderSpeeds()) {
    double product = 1;
    for (auto& [machine, rates] : alone) {
      const double ratio = rates.at(std::string(speed.name)) / rates.at("pillow");
      product *= ratio;
      EXPECT_GE(ratio, speed.low - 0.006) << speed.name << " on " << machine;
      EXPECT_LE(ratio, speed.high + 0.006) << speed.name << " on " << machine;
    }
    EXPECT_NEAR(std::pow(product, 0.2), speed.ratio, 0.001) << speed.name;
  }
}

TEST(DeviceCostsTest, AModelIsNotThatOfAShorterName) {
  for (const char* known : {"NVIDIA A10G", "NVIDIA L40S", "Tesla T4", "NVIDIA GH200 480GB"}) {
    EXPECT_EQ(BuiltInDeviceCosts(known).device, known);
  }
  for (const char* other : {"NVIDIA RTX A1000", "NVIDIA T400 4GB"}) {
    EXPECT_EQ(BuiltInDeviceCosts(other).device, "A100") << other;
  }
  const auto augment = [](const char* gpu) {
    return BuiltInDeviceCosts(gpu).augment.ms_per_megapixel;
  };
  EXPECT_LT(augment("L40"), augment("L4"));
  EXPECT_LT(augment("A100"), augment("A10"));
}

TEST(DeviceCostsTest, AFileReplacesWhatItNames) {
  const DeviceCosts base = BuiltInDeviceCosts("NVIDIA H100 80GB HBM3");
  EXPECT_EQ(base.device, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(BuiltInDeviceCosts("unheard of").device, "A100");
  const auto read =
      ReadDeviceCosts("# measured\ndevice NVIDIA H200\ndecode 0.25 by a sweep\r\n", base);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->device, "NVIDIA H200");
  EXPECT_EQ(read->decode.ms_per_megapixel, 0.25);
  EXPECT_EQ(English(read->decode.source), "by a sweep");
  EXPECT_EQ(read->augment.ms_per_megapixel, base.augment.ms_per_megapixel);
  for (const char* bad :
       {"device", "decode", "decode fast", "decode -1", "blur 1", "decode nan", "augment 1x"}) {
    const auto refused = ReadDeviceCosts(bad, base);
    ASSERT_FALSE(refused) << bad;
    EXPECT_NE(refused.error().message.find("line 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::analyzer
