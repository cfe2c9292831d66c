// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/import.h"

#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "traces/base/file.h"
#include "traces/exchange/json_fields.h"

namespace penstock::traces {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kSqlite = "SQLite format 3";
constexpr char kPerfettoPacket = 0x0a;  // field 1 of Trace, length-delimited

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// gzip packs JSON of a million similar events to a fiftieth. A text that is larger than kFreeText
// and more than kMostRatio times as large as its file is refused.
constexpr std::size_t kMostRatio = 256;
constexpr std::size_t kFreeText = std::size_t{64} << 20;

// The text of a file, unpacked if needed, followed by simdjson's padding.
struct Text {
  std::string bytes;  // with the padding
  std::size_t size = 0;

  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

tl::unexpected<Error> TooLarge(const std::filesystem::path& path) {
  return Fail(ErrorKind::kInput,
              fmt::format("{}: more than {} GiB of text", path.string(), kMostText >> 30));
}

Result<Text> Unpack(std::string_view packed, const std::filesystem::path& path) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) {
    return Fail(ErrorKind::kEnvironment, "zlib cannot be started");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, &inflateEnd);
  Text text;
  std::size_t taken = 0;
  for (int status = Z_OK;;) {
    if (stream.avail_in == 0 && taken < packed.size()) {
      const std::size_t part = std::min<std::size_t>(packed.size() - taken, 1u << 30);
      stream.next_in = reinterpret_cast<const Bytef*>(packed.data() + taken);
      stream.avail_in = static_cast<uInt>(part);
      taken += part;
    }
    if (text.bytes.size() - text.size < (1u << 16)) {
      text.bytes.resize(std::max<std::size_t>(text.bytes.size() * 2, 1u << 20));
    }
    const std::size_t room = std::min<std::size_t>(text.bytes.size() - text.size, 1u << 30);
    stream.next_out = reinterpret_cast<Bytef*>(text.bytes.data() + text.size);
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    text.size += room - stream.avail_out;
    if (text.size > kMostText) return TooLarge(path);
    if (text.size > kFreeText + kMostRatio * packed.size()) {
      return Fail(ErrorKind::kInput, fmt::format("{}: unpacks to more than {} times its size",
                                                 path.string(), kMostRatio));
    }
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0 && taken == packed.size()) break;
      if (inflateReset(&stream) != Z_OK) break;  // another member: gzip files may be joined
      continue;
    }
    const bool starved = stream.avail_in == 0 && taken == packed.size();
    if ((status != Z_OK && status != Z_BUF_ERROR) || (starved && stream.avail_out > 0)) {
      return Fail(ErrorKind::kInput, fmt::format("{}: damaged or cut off gzip at offset {}",
                                                 path.string(), taken - stream.avail_in));
    }
  }
  text.bytes.resize(text.size);
  text.bytes.resize(text.size + simdjson::SIMDJSON_PADDING);
  return text;
}

Result<Text> ReadText(std::string_view file, const std::filesystem::path& path) {
  if (file.starts_with(kGzip)) return Unpack(file, path);
  if (file.size() > kMostText) return TooLarge(path);
  Text text;
  text.bytes.reserve(file.size() + simdjson::SIMDJSON_PADDING);
  text.bytes = file;
  text.size = file.size();
  text.bytes.resize(file.size() + simdjson::SIMDJSON_PADDING);
  return text;
}

// Whether `bytes` are TracePackets one after the other. JSON may begin with the same byte, a line
// feed, so the next packets must be where the lengths of those before them say.
bool IsPerfetto(std::string_view bytes) {
  constexpr int kEnough = 16;
  std::size_t at = 0;
  for (int packets = 0; packets < kEnough && at < bytes.size(); ++packets) {
    if (bytes[at] != kPerfettoPacket) return false;
    std::uint64_t length = 0;
    int shift = 0;
    do {
      if (++at >= bytes.size() || shift > 28) return false;
      length |= std::uint64_t{static_cast<unsigned char>(bytes[at]) & 127u} << shift;
      shift += 7;
    } while ((static_cast<unsigned char>(bytes[at]) & 128u) != 0);
    at += 1 + length;
  }
  return at == bytes.size() || (at < bytes.size() && bytes[at] == kPerfettoPacket) ||
         at > bytes.size();
}

// Whether these are DFTracer's lines: one object each, the first one with or without a line "["
// before it.
bool IsLines(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return false;
  if (text[at] == '[') at = text.find_first_not_of(" \t\r\n", at + 1);
  if (at == std::string_view::npos || text[at] != '{') return false;
  const std::string_view line = text.substr(at, text.find('\n', at) - at);
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (line.find("\"traceEvents\"") != std::string_view::npos) return false;
  if (line[last] != '}' || line.find("\"cat\"") == std::string_view::npos ||
      line.find("\"name\"") == std::string_view::npos) {
    return false;
  }
  // Chrome's array may have all events on one line and lack its end, or have its commas at the
  // beginning of lines.
  const std::size_t next = text.find_first_not_of(" \t\r\n", at + line.size());
  return EndOfValue(line, 0) == last + 1 && (next == std::string_view::npos || text[next] != ',');
}

Result<void> Import(const MappedFile& file, const std::filesystem::path& path, Foreign& into) {
  const std::string_view bytes = AsText(file.bytes());
  if (bytes.empty()) return Fail(ErrorKind::kInput, fmt::format("{}: is empty", path.string()));
  if (bytes.starts_with(kSqlite)) return ImportNsight(path, into);
  if (IsPerfetto(bytes)) return ImportPerfetto(bytes, path, into);
  auto text = ReadText(bytes, path);
  PENSTOCK_TRY(text);
  const std::string_view view = text->view();
  const std::size_t first = view.find_first_not_of(" \t\r\n");
  if (IsPerfetto(view)) return ImportPerfetto(view, path, into);
  if (first == std::string_view::npos || (view[first] != '{' && view[first] != '[')) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: is none of: JSON of torch.profiler or Chrome, SQLite of Nsight "
                            "Systems, Perfetto, DFTracer's .pfw (each also gzipped)",
                            path.string()));
  }
  return IsLines(view) ? ImportPfw(view, text->bytes.size(), path, into)
                       : ImportChrome(view, text->bytes.size(), path, into);
}

}  // namespace

Result<ImportSummary> ImportTrace(const std::filesystem::path& from,
                                  const std::filesystem::path& to) {
  Result<MappedFile> file = MappedFile::Open(from);
  PENSTOCK_TRY(file);
  Result<std::unique_ptr<Packer>> packer =
      CreatePacked(to, {.suffix = fmt::format(".{}.tmp", ::getpid())});
  PENSTOCK_TRY(packer);
  Foreign into(**packer);
  Result<void> read = Import(*file, from, into);
  if (read && into.summary().spans == 0) {
    read = Fail(ErrorKind::kInput,
                fmt::format("{}: has no spans that can be imported", from.string()));
  }
  if (!read) {
    (*packer)->Discard();
    return tl::unexpected<Error>(read.error());
  }
  (*packer)->SetFact("record.mode", "imported");
  (*packer)->SetFact("import.format", into.summary().format);
  if (const Result<void> done = (*packer)->Finish(); !done) {
    (*packer)->Discard();
    return tl::unexpected<Error>(done.error());
  }
  return into.summary();
}

}  // namespace penstock::traces
