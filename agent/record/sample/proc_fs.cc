// SPDX-License-Identifier: Apache-2.0
#include "agent/record/sample/proc_fs.h"

#include <algorithm>
#include <array>

namespace penstock::record {
namespace {

// The value in "Key: 123 kB" or "key: 123".
std::optional<std::uint64_t> Field(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; at += key.size()) {
    const bool line_start = at == 0 || text[at - 1] == '\n';
    if (!line_start || at + key.size() >= text.size() || text[at + key.size()] != ':') continue;
    std::string_view rest = text.substr(at + key.size() + 1);
    rest = Trimmed(rest.substr(0, rest.find('\n')));
    return ParseNumber(rest.substr(0, rest.find(' ')));
  }
  return std::nullopt;
}

bool IsCodec(std::string_view path) {
  static constexpr std::array<std::string_view, 30> kPrefixes = {
      "libjpeg",       "libturbojpeg",  "libpng",   "libwebp",    "cv2.",       "_imaging.",
      "libnvjpeg",     "libdali",       "dali_",    "_jpeg.",     "libavcodec", "libdecord",
      "libtiff",       "libheif",       "libavif",  "libaio",     "libcufile",  "libtensorflow",
      "liblmdb",       "liburing",      "libcuda.", "libcudart",  "simplejpeg", "libnvcuvid",
      "libnvimgcodec", "libtorchcodec", "libdav1d", "libopenjp2", "libjxl",     "libkvikio"};
  static constexpr std::array<std::string_view, 4> kFolders = {"/simplejpeg/", "/lmdb/", "/decord/",
                                                               "/nvidia/dali/"};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.find(".so") == std::string_view::npos) return false;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return name.substr(0, p.size()) == p; }) ||
         std::any_of(kFolders.begin(), kFolders.end(),
                     [&](std::string_view p) { return path.find(p) != std::string_view::npos; });
}

// Calls `look` with each path in the maps. Successive mappings of one file count as one.
template <class Look>
void ForEachFile(std::string_view maps, Look look) {
  std::string_view last;
  while (!maps.empty()) {
    const auto end = maps.find('\n');
    const std::string_view line = maps.substr(0, end);
    maps.remove_prefix(end == std::string_view::npos ? maps.size() : end + 1);
    const auto slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view path = line.substr(slash);
    if (path == last) continue;
    last = path;
    look(path);
  }
}

}  // namespace

std::optional<ProcStat> ParseStat(std::string_view text) {
  // The name is in parentheses and may hold any byte, ')' and newline included.
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 3 > text.size()) return std::nullopt;
  std::string_view rest = text.substr(name_end + 2);
  ProcStat stat;
  stat.state = rest.front();
  // Numbered as in proc(5): the state is field 3.
  std::array<std::uint64_t, 25> fields{};
  int field = 3;
  while (!rest.empty() && field < 25) {
    const auto space = rest.find_first_of(" \n");
    const std::string_view word = rest.substr(0, space);
    fields[static_cast<std::size_t>(field)] = ParseNumber(word).value_or(0);
    ++field;
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  if (field < 25) return std::nullopt;
  stat.parent = static_cast<std::uint32_t>(fields[4]);
  stat.minor_faults = fields[10];
  stat.major_faults = fields[12];
  stat.cpu_clock_ticks = fields[14] + fields[15];
  stat.children_clock_ticks = fields[16] + fields[17];
  stat.threads = fields[20];
  stat.start = fields[22];
  stat.rss_pages = fields[24];
  return stat;
}

std::optional<std::uint64_t> ParseRunDelay(std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  text.remove_prefix(space + 1);
  const auto end = text.find(' ');
  if (end == std::string_view::npos) return std::nullopt;
  return ParseNumber(text.substr(0, end));
}

std::optional<ProcIo> ParseIo(std::string_view text) {
  const auto rchar = Field(text, "rchar");
  const auto read_bytes = Field(text, "read_bytes");
  if (!rchar || !read_bytes) return std::nullopt;
  return ProcIo{Bytes{*rchar}, Bytes{*read_bytes}};
}

std::optional<ProcMemory> ParseRollup(std::string_view text) {
  const auto pss = Field(text, "Pss");
  if (!pss) return std::nullopt;
  const auto bytes = [&](std::string_view key) {
    return Bytes{Field(text, key).value_or(0) * 1024};
  };
  ProcMemory memory;
  memory.pss = Bytes{*pss * 1024};
  memory.private_dirty = bytes("Private_Dirty");
  memory.uss = memory.private_dirty + bytes("Private_Clean") + bytes("Private_Hugetlb");
  memory.anonymous = bytes("Anonymous");
  memory.swap = bytes("Swap");
  if (Field(text, "Pss_Anon")) memory.pss_anonymous = bytes("Pss_Anon");
  return memory;
}

std::optional<std::uint64_t> AnonymousPages(std::string_view statm) {
  std::array<std::uint64_t, 3> fields{};  // size, resident, shared (files and shared memory)
  for (std::uint64_t& field : fields) {
    const auto space = statm.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto value = ParseNumber(statm.substr(0, space));
    if (!value) return std::nullopt;
    field = *value;
    statm.remove_prefix(space + 1);
  }
  if (fields[0] == 0) return std::nullopt;
  return fields[1] - std::min(fields[1], fields[2]);
}

std::optional<Bytes> MeminfoField(std::string_view meminfo, std::string_view key) {
  const auto kilobytes = Field(meminfo, key);
  if (!kilobytes) return std::nullopt;
  return Bytes{*kilobytes * 1024};
}

std::vector<std::string> CodecLibraries(std::string_view maps) {
  std::vector<std::string> found;
  ForEachFile(maps, [&](std::string_view path) {
    if (!IsCodec(path)) return;
    if (std::find(found.begin(), found.end(), path) == found.end()) found.emplace_back(path);
  });
  return found;
}

std::string_view AllocatorLibrary(std::string_view maps) {
  std::string_view found;
  ForEachFile(maps, [&](std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const std::string_view allocator : {"jemalloc", "tcmalloc", "mimalloc"}) {
      if (name.substr(0, 3) == "lib" && name.substr(3, allocator.size()) == allocator) {
        found = allocator;
      }
    }
  });
  return found;
}

std::optional<std::uint32_t> InnerPid(std::string_view status) {
  constexpr std::string_view kKey = "\nNSpid:";
  const auto at = status.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = status.substr(at + kKey.size());
  rest = Trimmed(rest.substr(0, rest.find('\n')));
  const auto last = rest.find_last_of(" \t");
  const auto value = ParseNumber(last == std::string_view::npos ? rest : rest.substr(last + 1));
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

}  // namespace penstock::record
