// SPDX-License-Identifier: Apache-2.0
#include "loader/set/tar_writer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace penstock::loader {
namespace {

constexpr std::size_t kBlock = 512;
using Block = std::array<char, kBlock>;

void Put(Block& block, std::size_t at, std::string_view text) {
  std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

Result<TarWriter> TarWriter::Create(const std::filesystem::path& path) {
  Result<OutputFile> file = OutputFile::Create(path, fmt::format(".{}.tmp", ::getpid()));
  PENSTOCK_TRY(file);
  return TarWriter(std::move(*file));
}

Result<void> TarWriter::Add(std::string_view name, std::span<const std::byte> bytes) {
  // ustar has up to 100 bytes for a name and up to 155 for a prefix, with a slash between them.
  std::string_view prefix;
  std::string_view rest = name;
  if (name.size() > 100) {
    const std::size_t slash = name.find('/', name.size() - 101);
    if (slash != std::string_view::npos && slash > 0 && slash <= 155) {
      prefix = name.substr(0, slash);
      rest = name.substr(slash + 1);
    }
  }
  if (rest.empty() || rest.size() > 100 || bytes.size() >> 33 != 0) {
    return Fail(ErrorKind::kInput, fmt::format("{}: name or size does not fit into a tar", name));
  }
  Block header{};
  Put(header, 0, rest);
  Put(header, 100, "0000644");  // mode
  Put(header, 108, "0000000");  // user
  Put(header, 116, "0000000");  // group
  Put(header, 124, fmt::format("{:011o}", bytes.size()));
  Put(header, 136, "00000000000");  // time
  Put(header, 148, "        ");     // the checksum, which itself counts as blanks
  header[156] = '0';                // a regular file
  Put(header, 257, std::string_view("ustar\0", 6));
  Put(header, 263, "00");  // version
  Put(header, 345, prefix);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  Put(header, 148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  const std::array<std::byte, kBlock> zeros{};
  const std::size_t tail = (kBlock - bytes.size() % kBlock) % kBlock;
  Result<void> done = file_.Append(std::as_bytes(std::span(header)));
  if (done) done = file_.Append(bytes);
  if (done) done = file_.Append(std::span(zeros).first(tail));
  return done;
}

Result<void> TarWriter::Commit() {
  const std::array<std::byte, 2 * kBlock> end{};
  if (Result<void> done = file_.Append(end); !done) return done;
  return file_.Commit();
}

}  // namespace penstock::loader
