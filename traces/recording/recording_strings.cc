// SPDX-License-Identifier: Apache-2.0
#include "traces/recording/recording_strings.h"

#include <fmt/format.h>

namespace penstock::traces {
namespace {

constexpr std::uint32_t kPending =
    0x80000000u;  // bit in a table's value: the text has not come yet

}  // namespace

StringId RecordingStrings::Object(std::uint64_t hash, Packer& out) {
  if (hash == 0) {
    return StringId{};
  }
  bool inserted = false;
  std::uint32_t& id = objects_.At(hash, &inserted);
  if (inserted) {
    id = out.AddString(fmt::format("#{:016x}", hash)).value | kPending;
  }
  return StringId{id & ~kPending};
}

StringId RecordingStrings::Name(std::uint32_t hash, Packer& out) {
  if (hash == 0) {
    return StringId{};
  }
  if (const std::uint32_t* id = names_.Find(hash)) {
    return StringId{*id & ~kPending};
  }
  if (const std::uint32_t* id = path_names_.Find(hash)) {
    bool inserted = false;
    return StringId{names_.At(hash, &inserted) = *id};
  }
  bool inserted = false;
  std::uint32_t& id = names_.At(hash, &inserted);
  id = out.AddString(fmt::format("#{:08x}", hash)).value | kPending;
  return StringId{id & ~kPending};
}

void RecordingStrings::Text(std::uint64_t hash, std::string_view text, Packer& out) {
  bool inserted = false;
  const bool path = !text.empty() && text.front() == '/';
  std::uint32_t& object = objects_.At(hash, &inserted);
  if (inserted) {
    object = (path ? out.AddString(text) : out.Intern(text)).value;
  } else if ((object & kPending) != 0) {
    object &= ~kPending;
    out.SetString(StringId{object}, text);
  }
  const auto low = static_cast<std::uint32_t>(hash);
  std::uint32_t* pending = nullptr;
  if (!path) {
    std::uint32_t& name = names_.At(low, &inserted);
    if (inserted) {
      name = object;
    } else if ((name & kPending) != 0) {
      pending = &name;
    }
  } else if (names_.Find(low) == nullptr) {
    path_names_.At(low, &inserted) = object;
  }
  if (pending != nullptr) {
    *pending &= ~kPending;
    out.SetString(StringId{*pending}, text);
  }
}

}  // namespace penstock::traces
