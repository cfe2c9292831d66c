// SPDX-License-Identifier: Apache-2.0
//
// The kinds of sets: their sizes, JPEG parameters and numbers of scenes. Constants, thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace penstock::loader {

enum class Subsampling { k444, k422, k420 };

struct PictureSize {
  int width;
  int height;
  int share;  // pictures of this size in every 20
};

struct SubsamplingShare {
  Subsampling subsampling;
  int share;  // pictures in every 20
};

struct SetRecipe {
  std::string_view name;     // as in --kind
  std::string_view summary;  // for --help
  std::span<const PictureSize> sizes;
  std::span<const SubsamplingShare> subsamplings;
  int quality;
  int scenes;  // painted once; every picture is a mixture of two
  std::uint64_t default_count;
};

// All kinds, in the order of --help.
[[nodiscard]] std::span<const SetRecipe> SetRecipes();

// nullptr if there is no such kind.
[[nodiscard]] const SetRecipe* FindSetRecipe(std::string_view name);

// The size and the subsampling of picture `index`. The shares hold in every 20 pictures in a row,
// so a small set has the same mixture as a large one.
[[nodiscard]] const PictureSize& SizeOf(const SetRecipe& recipe, std::uint64_t index);
[[nodiscard]] Subsampling SubsamplingOf(const SetRecipe& recipe, std::uint64_t index);

}  // namespace penstock::loader
