// SPDX-License-Identifier: Apache-2.0
#include "loader/set/recipe.h"

#include <algorithm>

namespace penstock::loader {
namespace {

// Long side 500, quality 96, no chroma subsampling, as a survey of the ImageNet files found.
constexpr std::array<PictureSize, 3> kImagenetSizes = {
    {{500, 375, 11}, {375, 500, 4}, {500, 333, 5}}};
constexpr std::array<SubsamplingShare, 1> kOnly444 = {{{Subsampling::k444, 20}}};

constexpr std::array<PictureSize, 3> kCocoSizes = {{{640, 480, 11}, {480, 640, 4}, {640, 427, 5}}};
constexpr std::array<SubsamplingShare, 3> kMixed = {
    {{Subsampling::k420, 16}, {Subsampling::k444, 3}, {Subsampling::k422, 1}}};

constexpr std::array<PictureSize, 1> kFullHdSizes = {{{1920, 1080, 20}}};
constexpr std::array<SubsamplingShare, 1> kOnly420 = {{{Subsampling::k420, 20}}};

constexpr std::array<SetRecipe, 3> kRecipes = {{
    {"imagenet", "long side 500, quality 96, 4:4:4, about 105 KB each", kImagenetSizes, kOnly444,
     96, 48, 1200},
    {"coco", "long side 640, mostly 4:2:0, about 96 KB each", kCocoSizes, kMixed, 92, 48, 1200},
    {"fullhd", "1920x1080, quality 92, 4:2:0", kFullHdSizes, kOnly420, 92, 12, 120},
}};

// The share, among shares of 20, into which `index` falls. `step` is odd and no multiple of 5.
// Sizes and subsamplings have different steps, so a size does not always come with the same
// subsampling. index / 20 shifts the places, so a class does not always come with the same size
// either.
template <class Share>
const Share& Pick(std::span<const Share> shares, std::uint64_t index, std::uint64_t step) {
  auto place = static_cast<int>((index % 20 * step + index / 20) % 20);
  for (const Share& share : shares) {
    if (place < share.share) return share;
    place -= share.share;
  }
  return shares.back();
}

}  // namespace

std::span<const SetRecipe> SetRecipes() {
  return kRecipes;
}

const SetRecipe* FindSetRecipe(std::string_view name) {
  const auto found = std::find_if(kRecipes.begin(), kRecipes.end(),
                                  [&](const SetRecipe& recipe) { return recipe.name == name; });
  return found == kRecipes.end() ? nullptr : &*found;
}

const PictureSize& SizeOf(const SetRecipe& recipe, std::uint64_t index) {
  return Pick(recipe.sizes, index, 7);
}

Subsampling SubsamplingOf(const SetRecipe& recipe, std::uint64_t index) {
  return Pick(recipe.subsamplings, index, 13).subsampling;
}

}  // namespace penstock::loader
