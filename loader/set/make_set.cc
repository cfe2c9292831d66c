// SPDX-License-Identifier: Apache-2.0
#include "loader/set/make_set.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "loader/set/jpeg_encoder.h"
#include "loader/set/parallel.h"
#include "loader/set/picture.h"
#include "loader/set/tar_writer.h"

namespace penstock::loader {
namespace {

namespace fs = std::filesystem;

// Raise this whenever the same options give other bytes. Then a set of an earlier version counts as
// something else.
constexpr int kVersion = 1;

std::size_t Digits(std::uint64_t highest, std::size_t least) {
  return std::max(least, std::to_string(highest).size());
}

// The part of the manifest that identifies a set. The set's figures follow in the file.
std::string Identity(const SetOptions& options) {
  return fmt::format(
      "{{\n \"set\": \"{}\",\n \"version\": {},\n \"count\": {},\n \"classes\": {},\n"
      " \"seed\": {},\n \"format\": \"{}\",\n \"shard\": {},\n \"quality\": {},\n",
      options.recipe->name, kVersion, options.count, options.classes, options.seed,
      SetFormatName(options.format), options.shard, options.recipe->quality);
}

Result<void> WriteWhole(const fs::path& path, std::span<const std::byte> bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool done = file >= 0;
  while (done && !bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    done = written > 0;
    if (done) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  const int error = errno;
  if (file >= 0 && ::close(file) != 0 && done) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  if (!done) {
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", path.string(), std::strerror(error)));
  }
  return {};
}

Result<void> WriteWhole(const fs::path& path, const std::string& text) {
  return WriteWhole(path, std::as_bytes(std::span(text.data(), text.size())));
}

// The path of picture i, relative to the folder of the set.
class Names {
 public:
  explicit Names(const SetOptions& options)
      : format_(options.format),
        index_digits_(Digits(options.count - 1, 5)),
        class_digits_(Digits(options.classes - 1, 2)) {}

  [[nodiscard]] std::string Class(std::uint64_t label) const {
    return fmt::format("class{:0{}}", label, class_digits_);
  }
  [[nodiscard]] std::string Index(std::uint64_t index) const {
    return fmt::format("{:0{}}", index, index_digits_);
  }
  [[nodiscard]] std::string Picture(std::uint64_t index, std::uint64_t label) const {
    return (format_ == SetFormat::kFolder ? Class(label) : "images") + "/" + Index(index) + ".jpg";
  }

 private:
  SetFormat format_;
  std::size_t index_digits_;
  std::size_t class_digits_;
};

// A set that is being made, in a folder of its own.
class Making {
 public:
  Making(const SetOptions& options, fs::path folder, const Painter& painter,
         const std::function<void(std::uint64_t)>& progress)
      : options_(options),
        folder_(std::move(folder)),
        painter_(painter),
        names_(options),
        progress_(progress) {}

  Result<void> MakeFolders() {
    std::error_code error;
    if (options_.format == SetFormat::kList) fs::create_directory(folder_ / "images", error);
    const std::uint64_t classes = std::min(options_.classes, options_.count);
    for (std::uint64_t label = 0;
         options_.format == SetFormat::kFolder && label < classes && !error; ++label) {
      fs::create_directory(folder_ / names_.Class(label), error);
    }
    if (!error) return {};
    return Fail(ErrorKind::kOutput, fmt::format("{}: {}", folder_.string(), error.message()));
  }

  // Writes the picture if it gets a file of its own; else the piece carries its bytes to Take().
  // Many workers call this at the same time.
  Result<Piece> Keep(std::uint64_t index, std::span<const std::byte> jpeg) {
    if (options_.format == SetFormat::kTar) {
      return Piece{{jpeg.begin(), jpeg.end()}, false, {}};
    }
    const fs::path path = folder_ / names_.Picture(index, painter_.ClassOf(index));
    PENSTOCK_TRY(WriteWhole(path, jpeg));
    Count(jpeg.size());
    return Piece{};
  }

  // Called in the order of `index`, by one worker at a time.
  Result<void> Take(std::uint64_t index, const std::vector<std::byte>& jpeg) {
    Result<void> done;
    const std::uint64_t label = painter_.ClassOf(index);
    if (options_.format == SetFormat::kTar) {
      Count(jpeg.size());
      done = AddToTar(index, label, jpeg);
    } else if (options_.format == SetFormat::kList) {
      list_ += fmt::format("{} {}\n", names_.Picture(index, label), label);
    }
    if (done) progress_(index + 1);
    return done;
  }

  Result<SetSummary> Finish() {
    if (options_.format == SetFormat::kList) {
      PENSTOCK_TRY(WriteWhole(folder_ / "list.txt", list_));
    }
    const std::string manifest =
        Identity(options_) +
        fmt::format(" \"mean_bytes\": {},\n \"least_bytes\": {},\n \"most_bytes\": {}\n}}\n",
                    summary_.bytes / options_.count, summary_.least, summary_.most);
    PENSTOCK_TRY(WriteWhole(folder_ / "set.json", manifest));
    return summary_;
  }

 private:
  void Count(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    summary_.least = summary_.bytes == 0 ? bytes : std::min(summary_.least, bytes);
    summary_.most = std::max(summary_.most, bytes);
    summary_.bytes += bytes;
  }

  Result<void> AddToTar(std::uint64_t index, std::uint64_t label,
                        const std::vector<std::byte>& jpeg) {
    if (!tar_) {
      const std::string name =
          fmt::format("{}-{:06}.tar", options_.recipe->name, index / options_.shard);
      Result<TarWriter> created = TarWriter::Create(folder_ / name);
      PENSTOCK_TRY(created);
      tar_.emplace(std::move(*created));
    }
    const std::string key = names_.Index(index);
    const std::string text = std::to_string(label);
    Result<void> done = tar_->Add(key + ".jpg", jpeg);
    if (done) done = tar_->Add(key + ".cls", std::as_bytes(std::span(text.data(), text.size())));
    if (done && ((index + 1) % options_.shard == 0 || index + 1 == options_.count)) {
      done = tar_->Commit();
      tar_.reset();
    }
    return done;
  }

  const SetOptions& options_;
  fs::path folder_;
  const Painter& painter_;
  Names names_;
  const std::function<void(std::uint64_t)>& progress_;
  std::mutex mutex_;  // guards summary_
  SetSummary summary_;
  std::optional<TarWriter> tar_;  // used by Take() only, as is list_
  std::string list_;
};

class PictureWorker : public OrderedWorker {
 public:
  PictureWorker(const SetOptions& options, const Painter& painter, Making& making)
      : options_(options), painter_(painter), making_(making) {}

  Result<Piece> Make(std::uint64_t index) override {
    const ImageView picture = painter_.Paint(index, pixels_);
    const auto jpeg =
        encoder_.Encode(picture, options_.recipe->quality, SubsamplingOf(*options_.recipe, index));
    PENSTOCK_TRY(jpeg);
    return making_.Keep(index, *jpeg);
  }

 private:
  const SetOptions& options_;
  const Painter& painter_;
  Making& making_;
  JpegEncoder encoder_;
  std::vector<std::uint8_t> pixels_;
};

// Returns a summary if the folder already holds the set of these options, and nullopt if there is
// no such folder or it is empty. Errors: kUsage if it holds anything else.
Result<std::optional<SetSummary>> FindMade(const SetOptions& options, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return std::optional<SetSummary>{};
  if (!fs::is_directory(folder, error)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: is there and not a folder; give another name", folder.string()));
  }
  if (fs::is_empty(folder, error)) return std::optional<SetSummary>{};
  const Result<MappedFile> manifest = MappedFile::Open(folder / "set.json");
  if (manifest) {
    const auto bytes = manifest->bytes();
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.rfind(Identity(options), 0) == 0) {
      SetSummary summary;
      summary.already_there = true;
      return std::optional(summary);
    }
  }
  return Fail(ErrorKind::kUsage, fmt::format("{}: holds something else; remove it or give another "
                                             "folder",
                                             folder.string()));
}

Result<SetSummary> MakeIn(const SetOptions& options, const fs::path& folder,
                          const std::stop_token& stop,
                          const std::function<void(std::uint64_t)>& progress) {
  const Painter painter(*options.recipe, options.seed, options.classes, options.workers, stop);
  Making making(options, folder, painter, progress);
  PENSTOCK_TRY(making.MakeFolders());
  std::vector<std::unique_ptr<OrderedWorker>> workers;
  for (unsigned i = 0; i < options.workers; ++i) {
    workers.push_back(std::make_unique<PictureWorker>(options, painter, making));
  }
  Result<void> made = RunOrdered(
      options.count, workers, stop,
      [&](std::uint64_t index, const Piece& piece) { return making.Take(index, piece.bytes); });
  PENSTOCK_TRY(made);
  if (stop.stop_requested()) return Fail(ErrorKind::kEnvironment, "interrupted");
  return making.Finish();
}

}  // namespace

std::string_view SetFormatName(SetFormat format) {
  switch (format) {
    case SetFormat::kFolder:
      return "folder";
    case SetFormat::kTar:
      return "tar";
    case SetFormat::kList:
      return "list";
  }
  return "folder";
}

Result<SetSummary> MakeSet(const SetOptions& options, const std::stop_token& stop,
                           const std::function<void(std::uint64_t)>& progress) {
  // Without this check all pictures would be made before rename() refuses an empty name.
  if (options.folder.empty()) {
    return Fail(ErrorKind::kUsage, "the name of the folder is empty; give the folder to make");
  }
  std::error_code error;
  fs::path folder = fs::absolute(options.folder, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // a slash at the end
  // rename() replaces an empty folder, but fails at a link to one. So a link is followed first.
  if (fs::is_symlink(folder, error)) {
    const fs::path target = fs::canonical(folder, error);
    if (!error) folder = target;
  }
  const auto there = FindMade(options, folder);
  PENSTOCK_TRY(there);
  if (*there) return **there;
  const fs::path making = folder.string() + fmt::format(".{}.tmp", ::getpid());
  if (!fs::create_directories(making, error)) {
    return Fail(ErrorKind::kOutput,
                fmt::format("{}: {}", making.string(),
                            error ? error.message() : "is there already; remove it"));
  }
  Result<SetSummary> made = MakeIn(options, making, stop, progress);
  if (made) {
    fs::rename(making, folder, error);  // an empty folder of that name is replaced
    if (!error) return made;
    made = Fail(ErrorKind::kOutput, fmt::format("{}: {}", folder.string(), error.message()));
  }
  fs::remove_all(making, error);
  return made;
}

}  // namespace penstock::loader
