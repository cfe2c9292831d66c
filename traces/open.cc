// SPDX-License-Identifier: Apache-2.0
//
// Opening and packing of a file of either shape.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "traces/base/file.h"
#include "traces/pack.h"
#include "traces/packed/packed_trace.h"
#include "traces/recording/join_segment.h"
#include "traces/recording/recording.h"
#include "traces/trace.h"
#include "traces/trace_builder.h"
#include "traces/translate.h"
#include "traces/wire.h"

namespace penstock::traces {
namespace {

bool IsRecording(std::span<const std::byte> file) {
  return file.size() >= sizeof wire::kMagic &&
         std::memcmp(file.data(), wire::kMagic, sizeof wire::kMagic) == 0;
}

tl::unexpected<Error> NotATrace(const std::filesystem::path& path, std::size_t size) {
  return Fail(ErrorKind::kInput,
              size == 0 ? fmt::format("{}: is empty; record the run again", path.string())
                        : fmt::format("{}: does not begin as a trace does; give a file made by "
                                      "penstock record or by the agent",
                                      path.string()));
}

// Drains all of a recording. Errors: kInput.
Result<void> DrainFile(MappedFile& file, const std::filesystem::path& path, Packer& out,
                       const OpenControl& control = {}) {
  RecordingDrain drain(file.writable(), false);
  drain.Watch(control.stop, control.progress);
  if (const Result<void> header = drain.CheckHeader(); !header) {
    return Fail(header.error().kind, fmt::format("{}: {}", path.string(), header.error().message));
  }
  drain.Finish(out);
  if (control.stop.stop_requested()) {
    return Fail(ErrorKind::kInput, fmt::format("{}: reading was stopped", path.string()));
  }
  return {};
}

Result<std::unique_ptr<Trace>> OpenFile(MappedFile file, const std::filesystem::path& path,
                                        const OpenControl& control = {}) {
  if (IsPacked(file.bytes())) {
    return OpenPacked(std::move(file), path, control);
  }
  if (!IsRecording(file.bytes())) {
    return NotATrace(path, file.bytes().size());
  }
  TraceBuilder builder;
  PENSTOCK_TRY(DrainFile(file, path, builder, control));
  return builder.Build();
}

}  // namespace

Result<std::unique_ptr<Trace>> OpenTrace(const std::filesystem::path& path,
                                         const OpenControl& control) {
  Result<MappedFile> file = OpenWithSegment(path);
  PENSTOCK_TRY(file);
  return OpenFile(std::move(*file), path, control);
}

Result<std::unique_ptr<Trace>> OpenTraceBytes(std::vector<std::byte> contents,
                                              const std::string& name) {
  return OpenFile(MappedFile::FromBytes(std::move(contents)), name);
}

Result<void> PackTrace(const std::filesystem::path& from, const std::filesystem::path& to) {
  Result<MappedFile> file = OpenWithSegment(from);
  PENSTOCK_TRY(file);
  if (!IsRecording(file->bytes()) && !IsPacked(file->bytes())) {
    return NotATrace(from, file->bytes().size());
  }
  // All errors of the input are found before the output is touched.
  Result<std::unique_ptr<Trace>> trace;
  if (IsPacked(file->bytes())) {
    trace = OpenPacked(std::move(*file), from);
    PENSTOCK_TRY(trace);
  } else if (const Result<void> header = RecordingDrain(file->writable(), false).CheckHeader();
             !header) {
    return Fail(header.error().kind, fmt::format("{}: {}", from.string(), header.error().message));
  }
  Result<std::unique_ptr<Packer>> packer =
      CreatePacked(to, {.suffix = fmt::format(".{}.tmp", ::getpid())});
  PENSTOCK_TRY(packer);
  Result<void> done;
  if (*trace != nullptr) {
    CopyTrace(**trace, **packer);
  } else {
    done = DrainFile(*file, from, **packer);
  }
  if (done) done = (*packer)->Finish();
  if (!done) (*packer)->Discard();
  return done;
}

}  // namespace penstock::traces
