// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/levers.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "analyzer/predict/decoders.h"
#include "analyzer/words/experiments.h"
#include "analyzer/words/plan.h"

namespace penstock::analyzer {
namespace {

constexpr double kFasterDecoder = 1.1;  // smallest ratio that is worth another library
constexpr double kLeastLeft = 0.05;     // least share of a part that a repair leaves; keeps `slow`
                                        // finite

const Finding* FindingOf(const std::vector<Finding>& findings, std::string_view id) {
  for (const Finding& finding : findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

template <class T>
std::optional<T> GivenOf(const Statement& statement, std::string_view name) {
  for (const auto& [key, value] : statement.values) {
    if (key == name && std::holds_alternative<T>(value)) return std::get<T>(value);
  }
  return std::nullopt;
}

std::string TextOf(const Finding& finding, std::string_view evidence) {
  for (const auto& [name, value] : finding.evidence) {
    if (name == evidence && std::holds_alternative<std::string>(value)) {
      return std::get<std::string>(value);
    }
  }
  return {};
}

bool OfSameFunction(const Finding& a, const Finding& b) {
  return TextOf(a, "function") == TextOf(b, "function") && TextOf(a, "file") == TextOf(b, "file");
}

double GainOf(const Finding& finding) {
  return finding.predicted ? finding.predicted->speedup : 1;
}

class Finder {
 public:
  Finder(const Diagnosis& diagnosis, const std::vector<Finding>& findings)
      : diagnosis_(diagnosis), loader_(*diagnosis.loader), findings_(findings) {}

  Levers Find(bool outside) {
    FindPersistence();
    if (loader_.pipeline.beside.empty()) {
      FindMalloc();
      if (!outside) {
        FindRepairs();
        FindPinning();
        FindStorage();
        FindPictures();
        FindPlaces();
      }
    }
    Exclude();
    return std::move(found_);
  }

 private:
  // Adds a change of ApplyChanges() or, if the trace cannot predict it, the reason. `parts`: the
  // parts that the change makes cheaper.
  void AddChange(Lever lever, std::initializer_list<Factor> parts) {
    const auto changed = ApplyChanges(loader_.pipeline, loader_.facts, loader_.material,
                                      lever.changes, BuiltInDeviceCosts(loader_.material.gpu));
    if (changed) {
      lever.notes = changed->notes;
      Take(std::move(lever));
    } else {
      LeaveUnpredicted(lever, changed.error().why, parts);
    }
  }
  void LeaveUnpredicted(const Lever& lever, Statement why, std::initializer_list<Factor> parts) {
    double most = 1;
    for (const Factor part : parts) most = std::max(most, loader_.attribution.SpeedupOf(part));
    found_.unpredicted.push_back({lever.id, lever.change, std::move(why), most});
  }
  // Levers beyond kMostLevers are left out.
  void Take(Lever lever) {
    if (found_.all.size() < kMostLevers) found_.all.push_back(std::move(lever));
  }

  // Adds a repair of code if the rule has estimated what the repair would gain.
  void AddRepair(const Finding* found, std::string_view id, Statement change,
                 std::string also = {});

  void FindPersistence();
  void FindMalloc();
  void FindRepairs();
  void FindPinning();
  void FindStorage();
  void FindPictures();
  void FindPlaces();
  void Exclude();

  const Diagnosis& diagnosis_;
  const LoaderDiagnosis& loader_;
  const std::vector<Finding>& findings_;
  Levers found_;
};

void Finder::FindPersistence() {
  const Pipeline& pipeline = loader_.pipeline;
  if (pipeline.sample_tasks || loader_.facts.persistent || pipeline.epochs.size() < 2) return;
  Lever lever{.id = "persistent_workers", .change = Say<words::kPlanPersistent>(), .lines = 1};
  lever.persistent = true;
  Take(std::move(lever));
}

void Finder::FindMalloc() {
  if (const Finding* found = FindingOf(findings_, "allocator-page-faults");
      found != nullptr && found->setting) {
    Lever lever{.id = "malloc", .effort = 1};
    lever.change = Say<words::kPlanMalloc>(
        Give<"pillow">(GivenOf<bool>(found->action, "pillow") == true),
        Give<"allocator">(GivenOf<std::string>(found->action, "allocator")));
    lever.parts = *found->setting;
    Take(std::move(lever));
  }
}

void Finder::AddRepair(const Finding* found, std::string_view id, Statement change,
                       std::string also) {
  if (found == nullptr || !found->setting || found->setting->scale.empty()) return;
  Lever lever{.id = std::string(id), .change = std::move(change), .effort = 5, .lines = 10};
  lever.parts = *found->setting;
  auto& [part, left] = lever.parts.scale.front();
  left = std::max(left, kLeastLeft);
  // A repair saves between half of what the rule assumes and all of it.
  lever.unsure = part;
  lever.slow = (1 + left) / 2 / left;
  lever.also = std::move(also);
  Take(std::move(lever));
}

// Repairs of the program's own code.
void Finder::FindRepairs() {
  const Finding* loop = FindingOf(findings_, "hot-python-loop");
  const Finding* call = FindingOf(findings_, "slow-call");
  const bool same = loop != nullptr && call != nullptr && OfSameFunction(*loop, *call);
  // Both repairs would save the same time, so only the one that gains more is a lever.
  if (same) (GainOf(*loop) < GainOf(*call) ? loop : call) = nullptr;
  if (loop != nullptr) {
    AddRepair(loop, "python_loop",
              Say<words::kPlanLoopOfPython>(Give<"function">(TextOf(*loop, "function"))),
              same ? "slow-call" : "");
  }
  if (call != nullptr) {
    AddRepair(call, "slow_call",
              Say<words::kPlanCall>(Give<"call">(TextOf(*call, "call")),
                                    Give<"function">(TextOf(*call, "function"))),
              same ? "hot-python-loop" : "");
  }
  AddRepair(FindingOf(findings_, "decodes-more-frames-than-used"), "fewer_frames",
            Say<words::kPlanFrames>());
  if (const Finding* slow = FindingOf(findings_, "slow-samples"); slow != nullptr) {
    Lever lever{.id = "slow_samples", .effort = 5, .lines = 10};
    lever.change = Say<words::kPlanSlowSamples>(Give<"slow">(loader_.sample_tail.slow),
                                                Give<"changes">(loader_.sample_tail.changes));
    lever.even_samples = true;
    found_.even = EvenSamplesOf(diagnosis_.run.loader(), loader_.sample_tail);
    Take(std::move(lever));
  }
  if (const Finding* found = FindingOf(findings_, "stragglers");
      found != nullptr && found->setting) {
    // Out of order, runs cannot be repeated exactly. So this lever has a higher effort than a
    // repair of the samples.
    Lever lever{.id = "in_order", .change = Say<words::kPlanInOrder>(), .effort = 6, .lines = 1};
    lever.risk = Say<words::kRiskOrder>();
    lever.parts = *found->setting;
    Take(std::move(lever));
  }
}

void Finder::FindPinning() {
  if (const Finding* found = FindingOf(findings_, "pageable-copies");
      found != nullptr && found->setting) {
    Lever lever{.id = "pin_memory", .effort = 1, .lines = 2};
    lever.change =
        Say<words::kPlanPin>(Give<"own">(diagnosis_.run.loader().config.kind == "penstock"));
    lever.parts = *found->setting;
    Take(std::move(lever));
  }
}

void Finder::FindStorage() {
  const Material& material = loader_.material;
  Lever cache{.id = "ram_cache", .effort = 3, .lines = 1};
  cache.change =
      Say<words::kPlanCache>(GiveIf<"bytes">(material.dataset_bytes > 0, material.dataset_bytes));
  cache.changes.ram_cache = true;
  if (material.dataset_bytes > 0) {
    AddChange(std::move(cache), {Factor::kRead});
  } else {
    LeaveUnpredicted(cache, Say<words::kTryMemory>(), {Factor::kRead});
  }
  Lever pack{.id = "pack", .change = Say<words::kPlanPack>(), .effort = 6, .lines = 20};
  pack.disk = material.dataset_bytes;
  pack.changes.pack = true;
  AddChange(std::move(pack), {Factor::kRead});
  if (loader_.pipeline.turns && FindingOf(findings_, "serialised-reads") != nullptr) {
    Lever apart{.id = "reads_apart", .change = Say<words::kPlanApart>(), .effort = 4, .lines = 5};
    apart.apart = true;
    Take(std::move(apart));
  }
  if (const Finding* found = FindingOf(findings_, "repeated-work");
      found != nullptr && found->setting) {
    Lever store{.id = "store_once", .change = Say<words::kPlanStore>(), .effort = 6, .lines = 20};
    store.parts = *found->setting;
    store.disk = diagnosis_.run.loader().config.dataset_samples() * material.sample_bytes;
    Take(std::move(store));
  }
}

void Finder::FindPictures() {
  const Material& material = loader_.material;
  if (material.media == Media::kOther) return;
  const auto recorded = FindDecoder(material.decoder);
  const DecoderSpeed wanted = FastestDecoder();
  if (recorded && material.may_be_jpeg() && wanted.ratio >= kFasterDecoder * recorded->ratio) {
    Lever decoder{.id = "decoder", .risk = Say<words::kRiskDecoder>(), .effort = 4, .lines = 5};
    const double ratio = wanted.ratio / recorded->ratio;
    const double low = wanted.low / recorded->high;
    const double high = wanted.high / recorded->low;
    decoder.change =
        Say<words::kPlanDecoder>(Give<"wanted">(wanted.name), Give<"recorded">(recorded->name),
                                 Give<"ratio">(ratio), Give<"low">(low), Give<"high">(high));
    decoder.changes.decoder = wanted.name;
    decoder.unsure = Factor::kDecode;
    decoder.slow = ratio / low;
    decoder.fast = ratio / high;
    AddChange(std::move(decoder), {Factor::kDecode});
  }
  if (const Finding* found = FindingOf(findings_, "decode-larger-than-needed");
      found != nullptr && found->setting) {
    Lever draft{.id = "draft", .change = Say<words::kPlanDraft>(), .effort = 3, .lines = 1};
    draft.risk = Say<words::kRiskSmaller>();
    draft.parts = *found->setting;
    // Half of the time is assumed; the limits are a third and two thirds.
    draft.unsure = Factor::kDecode;
    draft.slow = 4.0 / 3;
    draft.fast = 2.0 / 3;
    Take(std::move(draft));
  }
  // With four times the pixels of a sample, a random crop still has places to choose from.
  const double samples = std::max(1.0, loader_.facts.batch_size);
  const double pixels = (material.f32 / 4 + material.f16 / 2 + material.u8) / samples / 3;
  const double side = 32 * std::ceil(std::sqrt(4 * pixels * 4 / 3) / 32);
  const double recorded_side = std::sqrt(material.decoded_bytes / 3 * 4 / 3);
  if (pixels >= 32 * 32 && side <= 0.8 * recorded_side) {
    Lever resize{.id = "stored_size", .risk = Say<words::kRiskSmaller>(), .effort = 8, .lines = 10};
    resize.change = Say<words::kPlanResize>(Give<"side">(side));
    resize.disk = material.dataset_bytes * (side / recorded_side) * (side / recorded_side);
    resize.changes.resize = side;
    AddChange(std::move(resize), {Factor::kDecode, Factor::kRead});
  }
}

void Finder::FindPlaces() {
  const Material& material = loader_.material;
  Lever transfer{.id = "transfer_u8", .effort = 4};
  transfer.change = Say<words::kPlanTransfer>(Give<"device">(material.device));
  transfer.risk = Say<words::kRiskRounding>();
  transfer.lines = 5;
  transfer.changes.transfer = "u8";
  const bool floats = material.f32 + material.f16 > material.u8;
  if (floats || !(material.batch_bytes() > 0)) {
    AddChange(std::move(transfer), {Factor::kTransfer, Factor::kH2d});
  }
  if (FindingOf(findings_, "transforms-in-the-loop") != nullptr) {
    Lever lever{.id = "transforms_in_workers", .change = Say<words::kPlanLoop>(), .effort = 4};
    lever.risk = Say<words::kRiskRandom>();
    lever.lines = 5;
    lever.out_of_loop = true;
    Take(std::move(lever));
  }
  if (material.gpu.empty()) return;
  Lever augment{.id = "gpu_augment", .change = Say<words::kPlanGpuAugment>(), .effort = 9};
  augment.risk = Say<words::kRiskResampling>();
  augment.lines = 30;
  augment.changes.gpu_augment = true;
  AddChange(augment, {Factor::kAugment});
  Lever decode{.id = "gpu_decode", .change = Say<words::kPlanGpuDecode>(), .effort = 12};
  decode.risk = Say<words::kRiskResampling>();
  decode.lines = 50;
  decode.changes.gpu_decode = decode.changes.gpu_augment = true;
  AddChange(std::move(decode), {Factor::kDecode, Factor::kAugment});
}

// Marks levers that cannot be combined because they change the same thing or save the same time.
void Finder::Exclude() {
  using Group = std::initializer_list<std::string_view>;
  const Group groups[] = {
      {"transfer_u8", "gpu_augment", "gpu_decode"},
      {"draft", "stored_size"},
      {"draft", "gpu_decode"},
      {"decoder", "gpu_decode"},
      {"transforms_in_workers", "gpu_augment"},
      {"transforms_in_workers", "gpu_decode"},
      {"store_once", "ram_cache"},
      {"store_once", "pack"},
      {"store_once", "stored_size"},
      {"store_once", "draft"},
      {"store_once", "gpu_augment"},
      {"store_once", "gpu_decode"},
      {"reads_apart", "ram_cache"},
      {"python_loop", "store_once"},
      {"python_loop", "gpu_augment", "gpu_decode"},
      {"slow_call", "store_once"},
      {"slow_call", "gpu_augment", "gpu_decode"},
      {"slow_samples", "store_once"},
      {"fewer_frames", "gpu_decode"},
  };
  const auto bit = [&](std::string_view id) -> LeverSet {
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      if (found_.all[i].id == id) return LeverSet{1} << i;
    }
    return 0;
  };
  found_.excludes.assign(found_.all.size(), 0);
  for (const Group& group : groups) {
    LeverSet all = 0;
    for (const std::string_view id : group) all |= bit(id);
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      const LeverSet own = LeverSet{1} << i;
      if ((all & own) != 0) found_.excludes[i] |= all & ~own;
    }
  }
}

}  // namespace

Levers FindLevers(const Diagnosis& diagnosis, const std::vector<Finding>& findings, bool outside) {
  return Finder(diagnosis, findings).Find(outside);
}

}  // namespace penstock::analyzer
