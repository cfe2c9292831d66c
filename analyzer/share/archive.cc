// SPDX-License-Identifier: Apache-2.0
#include "analyzer/share/archive.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "traces/output_place.h"

namespace penstock::analyzer {
namespace {

std::string_view Text(std::span<const std::byte> bytes) {
  // The bytes of any object may be read as characters.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A zlib compressor with an output buffer. `bits`: windowBits of deflateInit2(), which says whether
// there is a gzip header.
class Deflater {
 public:
  explicit Deflater(int bits) {
    good_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  // Compresses `bytes`, and calls `take` with each part of the output.
  template <class Take>
  Result<void> Put(std::string_view bytes, int flush, const Take& take) {
    if (!good_) return Fail(ErrorKind::kEnvironment, "not enough memory to compress; free some");
    std::array<char, 1 << 16> out;
    do {  // zlib counts in 32 bits
      const std::string_view part = bytes.substr(0, std::size_t{1} << 30);
      bytes.remove_prefix(part.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream_.avail_in = static_cast<uInt>(part.size());
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        stream_.avail_out = static_cast<uInt>(out.size());
        deflate(&stream_, bytes.empty() ? flush : Z_NO_FLUSH);
        PENSTOCK_TRY(take(std::string_view(out.data(), out.size() - stream_.avail_out)));
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return {};
  }

 private:
  z_stream stream_{};
  bool good_ = false;
};

std::string TemporarySuffix() {
  return fmt::format(".{}.tmp", ::getpid());
}

void Number(std::string& out, std::uint64_t value, int bytes) {  // little endian
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

class Zip final : public Archive {
 public:
  Zip(OutputFile file, std::time_t now) : Archive(std::move(file), now) {}

  Result<void> Add(const std::string& name, std::span<const std::byte> bytes) override {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const std::string_view text = Text(bytes);
    const std::uint64_t begin = size();
    PENSTOCK_TRY(Write("PK\x03\x04" + Fields(name, Sums{}) + name));
    Sums sums;
    sums.size = text.size();
    Deflater deflater(-MAX_WBITS);
    PENSTOCK_TRY(deflater.Put(text, Z_FINISH, [&](std::string_view part) {
      sums.compressed += part.size();
      return Write(part);
    }));
    if (text.size() > kMost || size() > kMost) {
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: too large for a .zip; give a name that ends in .tar.gz", name));
    }
    sums.crc = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
    std::string after = "PK\x07\x08";
    AddSums(after, sums);
    PENSTOCK_TRY(Write(after));
    directory_ += "PK\x01\x02";
    Number(directory_, 3 << 8 | 20, 2);  // made by Unix
    directory_ += Fields(name, sums);
    Number(directory_, 0, 6);                             // no comment, first disk, no text
    Number(directory_, std::uint64_t{0100600} << 16, 4);  // a regular file with mode 0600
    Number(directory_, begin, 4);
    directory_ += name;
    ++count_;
    return {};
  }

 private:
  Result<void> End() override {
    std::string end = "PK\x05\x06";
    Number(end, 0, 4);  // one disk
    Number(end, count_, 2);
    Number(end, count_, 2);
    Number(end, directory_.size(), 4);
    Number(end, size(), 4);
    Number(end, 0, 2);  // no comment
    return Write(directory_ + end);
  }

  // The sums of a file, which are known only after all of it is written.
  struct Sums {
    std::uint64_t crc = 0;
    std::uint64_t compressed = 0;
    std::uint64_t size = 0;
  };

  static void AddSums(std::string& out, const Sums& sums) {
    Number(out, sums.crc, 4);
    Number(out, sums.compressed, 4);
    Number(out, sums.size, 4);
  }

  // The fields that the header of a file and its entry in the directory have in common.
  [[nodiscard]] std::string Fields(const std::string& name, const Sums& sums) const {
    std::string fields;
    Number(fields, 20, 2);                // version 2.0 unpacks it
    Number(fields, 1 << 3 | 1 << 11, 2);  // the sums follow the file; its name is UTF-8
    Number(fields, 8, 2);                 // deflated
    Number(fields, DosTime(), 4);
    AddSums(fields, sums);
    Number(fields, name.size(), 2);
    Number(fields, 0, 2);  // no extra field
    return fields;
  }

  [[nodiscard]] std::uint32_t DosTime() const {
    std::tm when{};
    gmtime_r(&now_, &when);
    const auto bits = [](int value, int at) { return static_cast<std::uint32_t>(value) << at; };
    return bits(std::max(when.tm_year - 80, 0), 25) | bits(when.tm_mon + 1, 21) |
           bits(when.tm_mday, 16) | bits(when.tm_hour, 11) | bits(when.tm_min, 5) |
           bits(when.tm_sec / 2, 0);
  }

  std::string directory_;
  std::uint64_t count_ = 0;
};

class TarGz final : public Archive {
 public:
  TarGz(OutputFile file, std::time_t now) : Archive(std::move(file), now) {}

  Result<void> Add(const std::string& name, std::span<const std::byte> bytes) override {
    constexpr std::uint64_t kMost = (std::uint64_t{1} << 33) - 1;  // 11 octal digits
    if (bytes.size() > kMost) {
      return Fail(ErrorKind::kOutput,
                  fmt::format("{}: larger than 8 GB: too large to share", name));
    }
    std::string header(kBlock, '\0');
    const auto put = [&header](std::size_t at, std::string_view text) {
      header.replace(at, text.size(), text);
    };
    put(0, name.substr(0, 100));
    put(100, "0000600");  // readable by its owner
    put(108, "0000000");  // user and group 0
    put(116, "0000000");
    put(124, fmt::format("{:011o}", bytes.size()));
    put(136, fmt::format("{:011o}", now_));
    put(148, "        ");  // the checksum counts as blanks
    put(156, "0");         // a plain file
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    PENSTOCK_TRY(Compress(header, Z_NO_FLUSH));
    PENSTOCK_TRY(Compress(Text(bytes), Z_NO_FLUSH));
    return Compress(std::string((kBlock - bytes.size() % kBlock) % kBlock, '\0'), Z_NO_FLUSH);
  }

 private:
  static constexpr std::size_t kBlock = 512;

  Result<void> End() override { return Compress(std::string(2 * kBlock, '\0'), Z_FINISH); }

  Result<void> Compress(std::string_view bytes, int flush) {
    return deflater_.Put(bytes, flush, [this](std::string_view part) { return Write(part); });
  }

  Deflater deflater_{MAX_WBITS + 16};
};

}  // namespace

Result<ArchiveKind> ArchiveKindOf(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  for (const auto& [end, kind] : {std::pair{std::string_view(".zip"), ArchiveKind::kZip},
                                  std::pair{std::string_view(".tar.gz"), ArchiveKind::kTarGz},
                                  std::pair{std::string_view(".tgz"), ArchiveKind::kTarGz}}) {
    if (name.size() > end.size() && name.ends_with(end)) return kind;
  }
  return Fail(ErrorKind::kUsage,
              fmt::format("{}: give a name that ends in .zip or .tar.gz", path.string()));
}

std::filesystem::path Archive::TemporaryName(const std::filesystem::path& path) {
  return path.string() + TemporarySuffix();
}

Result<std::unique_ptr<Archive>> Archive::Create(const std::filesystem::path& path, bool replace) {
  const Result<ArchiveKind> kind = ArchiveKindOf(path);
  PENSTOCK_TRY(kind);
  if (!replace && LookAtName(path).exists) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: exists; give another name, or --force", path.string()));
  }
  traces::RemoveAbandoned(path);
  Result<OutputFile> file = OutputFile::Create(
      path, TemporarySuffix(),
      {.private_to_owner = true,
       .may_replace = [replace](const std::filesystem::path&) { return replace; }});
  PENSTOCK_TRY(file);
  const std::time_t now = std::time(nullptr);
  std::unique_ptr<Archive> archive;
  if (*kind == ArchiveKind::kZip) {
    archive = std::make_unique<Zip>(std::move(*file), now);
  } else {
    archive = std::make_unique<TarGz>(std::move(*file), now);
  }
  return archive;
}

Result<void> Archive::Finish() {
  PENSTOCK_TRY(End());
  return file_.Commit();
}

Result<void> Archive::Write(std::string_view bytes) {
  return file_.Append(std::as_bytes(std::span(bytes)));
}

}  // namespace penstock::analyzer
