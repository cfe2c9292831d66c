// SPDX-License-Identifier: Apache-2.0
//
// The samples of one or many tars. When the source is opened, the indexes of all shards are copied
// into one temporary file. So a thousand shards do not need a thousand descriptors, and a sidecar
// may be replaced during the run.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "loader/source/member_index.h"
#include "loader/source/sources.h"
#include "loader/source/tar_index.h"

namespace penstock::loader {
namespace {

struct Shard {
  std::string path;
  std::string prefix;  // start of its samples' names: "train-0001.tar:"
  std::uint64_t end;   // one past its last sample
};

class TarSource : public Source {
 public:
  TarSource(std::vector<Shard> shards, MemberIndex index)
      : shards_(std::move(shards)), index_(std::move(index)) {}

  std::uint64_t size() const override { return index_.count; }
  std::string_view kind() const override { return "tar"; }
  std::uint64_t classes() const override { return index_.classes; }

  Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const override {
    const auto shard =
        std::upper_bound(shards_.begin(), shards_.end(), index,
                         [](std::uint64_t at, const Shard& other) { return at < other.end; });
    MemberEntry entry;
    if (shard == shards_.end() || !index_.Read(index, entry)) {
      return Unreadable(index);
    }
    scratch.name.assign(shard->prefix);
    if (!index_.AppendName(entry, scratch.name)) {
      return Unreadable(index);
    }
    return SampleRef{shard->path, entry.offset, entry.size, false, entry.label, scratch.name};
  }

 private:
  // Names the first shard, since all shards share the temporary index.
  [[nodiscard]] tl::unexpected<Error> Unreadable(std::uint64_t index) const {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: the temporary index cannot be read at sample {}; {}",
                            Printable(shards_.front().path), index, kCheckTemporaryDisk));
  }

  std::vector<Shard> shards_;
  MemberIndex index_;
};

}  // namespace

Result<std::unique_ptr<Source>> OpenTars(std::vector<std::filesystem::path> tars,
                                         const SourceOptions& options) {
  std::sort(tars.begin(), tars.end(),
            [](const auto& a, const auto& b) { return a.native() < b.native(); });
  MemberIndexBuilder builder(options.index_folder);
  std::vector<Shard> shards;
  shards.reserve(tars.size());
  for (const std::filesystem::path& tar : tars) {
    Result<std::uint64_t> added = AppendTarIndex(tar, options, builder);
    PENSTOCK_TRY(added);
    shards.push_back({tar.native(), tar.filename().native() + ":", builder.count()});
    if (options.progress) {
      options.progress(shards.size(), tars.size());
    }
  }
  Result<MemberIndex> index = builder.Finish();
  PENSTOCK_TRY(index);
  return std::make_unique<TarSource>(std::move(shards), std::move(*index));
}

}  // namespace penstock::loader
