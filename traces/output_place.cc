// SPDX-License-Identifier: Apache-2.0
#include "traces/output_place.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "traces/packed/packed_layout.h"
#include "traces/recording/join_segment.h"
#include "traces/wire.h"

namespace penstock::traces {
namespace {

std::filesystem::path With(const std::filesystem::path& path, const char* suffix) {
  std::filesystem::path whole = path;
  whole += suffix;
  return whole;
}

bool Begins(const NameInUse& name, const void* magic, std::size_t size) {
  return name.head.size() >= size && std::memcmp(name.head.data(), magic, size) == 0;
}

// Larger than the header of a packed trace, so something was recorded.
bool IsRecoverable(const NameInUse& part) {
  return part.WhyNot().empty() && IsTrace(part) && part.size > sizeof(packed::PackedHeader);
}

// Whether a recording without a collector is still going on, or has its end in the memory of this
// host.
bool IsUnfinished(const std::filesystem::path& path) {
  const Result<MappedFile> file = MappedFile::Open(path);
  if (!file) return true;  // it may be unfinished
  if (file->bytes().size() < sizeof(wire::FileHeader) ||
      std::memcmp(file->bytes().data(), wire::kMagic, sizeof wire::kMagic) != 0) {
    return false;
  }
  const auto* header = reinterpret_cast<const wire::FileHeader*>(file->bytes().data());
  return SegmentOf(*header) != SegmentState::kNone;
}

}  // namespace

bool IsTrace(const NameInUse& name) {
  return name.is_file && (Begins(name, packed::kMagic, sizeof packed::kMagic) ||
                          Begins(name, wire::kMagic, sizeof wire::kMagic));
}

bool MayBeReplaced(const std::filesystem::path& path, bool force) {
  const NameInUse there = LookAtName(path);
  return there.is_file && there.is_ours &&
         (there.size == 0 || (force && IsTrace(there) && !IsUnfinished(path)));
}

Result<std::filesystem::path> MoveAside(const std::filesystem::path& output) {
  const std::filesystem::path part = With(output, ".part");
  const Result<FileLock> lock = FileLock::Take(part);
  if (!lock) return Fail(ErrorKind::kOutput, lock.error().message);
  struct stat info {};
  const std::time_t written =
      ::lstat(part.c_str(), &info) == 0 ? info.st_mtime : std::time(nullptr);
  const std::filesystem::path fresh = FreshName(output, written);
  // The name of the ring is moved first: `penstock recover` finds the end of the recording by it.
  const std::filesystem::path ring = With(output, ".ring");
  if (LookAtName(ring).IsOursAlone()) std::rename(ring.c_str(), With(fresh, ".ring").c_str());
  const std::filesystem::path tail = With(output, ".part.tail");
  if (LookAtName(tail).IsOursAlone()) std::rename(tail.c_str(), With(fresh, ".part.tail").c_str());
  if (std::rename(part.c_str(), With(fresh, ".part").c_str()) != 0) {
    const int error = errno;
    std::rename(With(fresh, ".ring").c_str(), ring.c_str());
    std::rename(With(fresh, ".part.tail").c_str(), tail.c_str());
    return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be moved aside: {}", part.string(),
                                                std::generic_category().message(error)));
  }
  return fresh;
}

Result<OutputPlace> PlaceFor(const std::filesystem::path& asked, bool force, bool named) {
  OutputPlace place;
  const auto beside = [&](const std::string& what, const std::string& why) {
    place.path = FreshName(asked, std::time(nullptr));
    place.notes.push_back(fmt::format("{} {}; recording to {}", what, why, place.path.string()));
    return place;
  };
  const NameInUse there = LookAtName(asked);
  if (there.is_link) return beside(asked.string(), there.WhyNot());
  if (there.is_file && !there.is_ours) return beside(asked.string(), there.WhyNot());
  if (there.is_file && there.size > 0) {
    if (there.is_hidden) return beside(asked.string(), there.WhyNot());
    if (!IsTrace(there) && named) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: exists and is no trace; give another name", asked.string()));
    }
    if (!IsTrace(there)) return beside(asked.string(), "exists and is no trace");
    if (IsUnfinished(asked))
      return beside(asked.string(), "is being recorded, or was not finished");
    if (!force) return beside(asked.string(), "exists");
  }
  const std::filesystem::path part = With(asked, ".part");
  const NameInUse unfinished = LookAtName(part);
  if (const std::string why = unfinished.WhyNot(); !why.empty()) return beside(part.string(), why);
  if (IsRecoverable(unfinished)) {
    const Result<std::filesystem::path> moved = MoveAside(asked);
    if (!moved) return beside(part.string(), "is what a killed run has left");
    place.notes.push_back(
        fmt::format("{} is what a killed run has left, now {}.part; penstock "
                    "recover {} makes a trace of it",
                    part.string(), moved->string(), moved->string()));
  } else if (unfinished.size > 0 && !IsTrace(unfinished)) {
    return beside(part.string(), "exists and is no trace");
  }
  place.path = asked;
  return place;
}

void RemoveAbandoned(const std::filesystem::path& output) {
  const std::string begins = output.filename().string() + ".";
  constexpr std::string_view kEnds = ".tmp";
  std::error_code error;
  const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::filesystem::path& path = at->path();
    const std::string name = path.filename().string();
    if (!name.starts_with(begins) || !name.ends_with(kEnds)) continue;
    if (name.size() <= begins.size() + kEnds.size()) continue;
    const std::string_view pid =
        std::string_view(name).substr(begins.size(), name.size() - begins.size() - kEnds.size());
    const bool number = pid.find_first_not_of("0123456789") == std::string_view::npos;
    if (!number) continue;
    std::error_code stays;
    // Held until the file is removed, so that no new writer takes the name in between.
    const Result<FileLock> lock = FileLock::Take(path);
    if (lock) std::filesystem::remove(path, stays);
  }
}

}  // namespace penstock::traces
