// SPDX-License-Identifier: Apache-2.0
#include "loader/source/packed_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "loader/source/member_index.h"
#include "loader/source/packed_layout.h"
#include "loader/source/record_file.h"
#include "traces/base/file.h"

namespace penstock::loader {

struct PackedWriter::State {
  std::filesystem::path path;
  OutputFile file;
  MemberIndexBuilder index;
  std::uint64_t count = 0;
  bool finished = false;
};

namespace {

// Appends `range` to the file and adds it to `checksum`.
Result<void> AppendRange(OutputFile& file, const FileRange& range, StreamChecksum& checksum) {
  Result<void> appended;
  const bool whole = StreamRange(range, [&](std::span<const std::byte> bytes) {
    checksum.Add(bytes);
    appended = file.Append(bytes);
    return appended.has_value();
  });
  if (!whole && appended) {
    return Fail(ErrorKind::kEnvironment,
                fmt::format("temporary index: cannot be read back; {}", kCheckTemporaryDisk));
  }
  return appended;
}

}  // namespace

PackedWriter::PackedWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PackedWriter::PackedWriter(PackedWriter&& other) noexcept = default;
PackedWriter& PackedWriter::operator=(PackedWriter&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

PackedWriter::~PackedWriter() {
  if (state_ != nullptr && !state_->finished) {
    state_->file.Discard();
  }
}

Result<PackedWriter> PackedWriter::Create(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->index = MemberIndexBuilder(path.parent_path());
  Result<OutputFile> file = OutputFile::Create(path, fmt::format(".{}.part", ::getpid()));
  PENSTOCK_TRY(file);
  state->file = std::move(*file);
  PackedWriter writer(std::move(state));
  const PackHeader header;
  if (Result<void> begun = writer.state_->file.Append(std::as_bytes(std::span(&header, 1)));
      !begun) {
    return tl::unexpected(begun.error());
  }
  return writer;
}

Result<void> PackedWriter::Add(std::string_view name, std::int64_t label,
                               std::span<const std::byte> bytes) {
  if (name.empty() || name.size() > kMaxNameSize) {
    return Fail(ErrorKind::kInput,
                fmt::format("{}: sample {} has a name of {} bytes; give it 1 to {}",
                            state_->path.string(), state_->count, name.size(), kMaxNameSize));
  }
  const std::uint64_t offset = state_->file.size();
  if (Result<void> appended = state_->file.Append(bytes); !appended) {
    return appended;
  }
  if (Result<void> added = state_->index.Add(offset, bytes.size(), label, name); !added) {
    return added;
  }
  ++state_->count;
  return {};
}

Result<void> PackedWriter::Finish() {
  OutputFile& file = state_->file;
  if (state_->count == 0) {
    return Fail(ErrorKind::kInput, fmt::format("{}: no sample to pack; give a source with images",
                                               state_->path.string()));
  }
  Result<MemberIndex> index = state_->index.Finish();
  PENSTOCK_TRY(index);
  const std::array<std::byte, 8> zeros{};
  if (Result<void> padded = file.Append(std::span(zeros).first((8 - file.size() % 8) % 8));
      !padded) {
    return padded;
  }
  PackFooter footer;
  footer.index_at = file.size();
  footer.count = index->count;
  footer.names_size = index->names.size();
  footer.classes = index->classes;
  StreamChecksum checksum;
  for (const FileRange* range : {&index->entries, &index->names}) {
    if (Result<void> appended = AppendRange(file, *range, checksum); !appended) {
      return appended;
    }
  }
  footer.index_checksum = checksum.Value();
  footer.footer_checksum = FooterChecksum(PackHeader{}, footer);
  if (Result<void> ended = file.Append(std::as_bytes(std::span(&footer, 1))); !ended) {
    return ended;
  }
  // The file is on disk before it gets its name, so a power failure leaves a whole file or none.
  const Descriptor again(::open(file.temporary().c_str(), O_RDONLY | O_CLOEXEC));
  if (!again || ::fdatasync(again.get()) != 0) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written to disk: {}; check the disk",
                                                file.temporary().string(), ErrnoText(errno)));
  }
  state_->finished = true;
  const std::filesystem::path temporary = file.temporary();
  Result<void> committed = file.Commit();
  if (!committed) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return Fail(
        ErrorKind::kOutput,
        fmt::format("{}: cannot be given its name; choose another place", state_->path.string()));
  }
  return {};
}

std::uint64_t PackedWriter::count() const {
  return state_->count;
}

std::uint64_t PackedWriter::bytes() const {
  return state_->file.size();
}

}  // namespace penstock::loader
