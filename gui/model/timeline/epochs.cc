// SPDX-License-Identifier: Apache-2.0
#include "gui/model/timeline/epochs.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace penstock::gui {
namespace {

template <class Number>
std::optional<Number> NumberOfFact(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The loader of each generation, from the facts epoch.<generation> of all processes. The ranks of
// one program have the same facts, so the first one found is taken.
std::map<Generation, int> LoadersOf(const traces::Trace& trace) {
  constexpr std::string_view kFact = "epoch.";
  std::map<Generation, int> loaders;
  for (const traces::ProcessInfo& process : trace.processes()) {
    for (auto fact = process.facts.lower_bound(std::string(kFact));
         fact != process.facts.end() && fact->first.starts_with(kFact); ++fact) {
      const std::string_view name = fact->first;
      const auto generation = NumberOfFact<Generation>(name.substr(kFact.size()));
      const auto loader = NumberOfFact<int>(fact->second);
      if (generation && loader) loaders.try_emplace(*generation, *loader);
    }
  }
  return loaders;
}

}  // namespace

Epochs::Epochs(const traces::Trace& trace, std::vector<Generation> found) {
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  const std::map<Generation, int> loaders = LoadersOf(trace);
  // An epoch counts even if none of its batches were kept. Otherwise, in the trace of a flight
  // recorder, the first epoch that was kept would have number 1.
  std::map<int, std::uint32_t> counts;
  std::map<Generation, Epoch> known;
  for (const auto& [generation, loader] : loaders) {
    known[generation] = {generation, ++counts[loader], loader};
  }
  const std::uint32_t shift = !found.empty() && found.front() == 0 ? 1 : 0;
  for (const Generation generation : found) {
    const auto one = known.find(generation);
    epochs_.push_back(one != known.end() ? one->second : Epoch{generation, generation + shift, -1});
    several_loaders_ = several_loaders_ || epochs_.back().loader != epochs_.front().loader;
  }
}

const Epoch* Epochs::Find(Generation generation) const {
  const auto at = std::lower_bound(
      epochs_.begin(), epochs_.end(), generation,
      [](const Epoch& epoch, Generation wanted) { return epoch.generation < wanted; });
  return at != epochs_.end() && at->generation == generation ? &*at : nullptr;
}

std::uint32_t Epochs::NumberOf(Generation generation) const {
  const Epoch* epoch = Find(generation);
  return epoch != nullptr ? epoch->number : generation;
}

int Epochs::LoaderOf(Generation generation) const {
  const Epoch* epoch = Find(generation);
  return epoch != nullptr ? epoch->loader : -1;
}

std::string BatchName(const Epochs& epochs, std::uint32_t batch, Generation generation,
                      const std::vector<std::string>& loaders, Language language) {
  if (!epochs.several()) return std::to_string(batch);
  const std::uint32_t number = epochs.NumberOf(generation);
  const int id = epochs.LoaderOf(generation);
  const auto place = static_cast<std::size_t>(id);
  const bool named = epochs.several_loaders() && id >= 0 && place < loaders.size();
  if (!named || loaders[place].empty()) return Filled(Text::kBatchOfEpoch, language, batch, number);
  return Filled(Text::kBatchOfLoader, language, batch, number, loaders[place]);
}

}  // namespace penstock::gui
