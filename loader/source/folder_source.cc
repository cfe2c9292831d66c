// SPDX-License-Identifier: Apache-2.0
//
// One folder for each class, as in torchvision's ImageFolder, or a folder of images alone, which
// have no labels. The paths of the samples lie in temporary files (record_file.h). Memory holds one
// number for each class and, during opening, the names of the class folders and of the files of one
// class.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "loader/source/folder_walk.h"
#include "loader/source/member_index.h"
#include "loader/source/record_file.h"
#include "loader/source/sources.h"
#include "loader/source/tar_index.h"

namespace penstock::loader {
namespace {

constexpr std::string_view kExtensions =
    ".jpg, .jpeg, .png, .ppm, .bmp, .pgm, .tif, .tiff or .webp";

class FolderSource : public Source {
 public:
  FolderSource(const std::filesystem::path& folder, FileRange places, FileRange names,
               std::vector<std::uint64_t> class_ends, bool labelled)
      : folder_(folder.native()),
        places_(std::move(places)),
        names_(std::move(names)),
        class_ends_(std::move(class_ends)),
        labelled_(labelled) {
    if (folder_.back() != '/') {
      folder_ += '/';
    }
  }

  std::uint64_t size() const override { return places_.size() / sizeof(std::uint64_t); }
  std::string_view kind() const override { return "folder"; }
  std::uint64_t classes() const override { return labelled_ ? class_ends_.size() : 0; }

  Result<std::string> ClassName(std::uint64_t label) const override {
    SampleScratch scratch;
    const Result<SampleRef> first = At(label == 0 ? 0 : class_ends_[label - 1], scratch);
    PENSTOCK_TRY(first);
    return std::string(first->name.substr(0, first->name.find('/')));
  }

  Result<SampleRef> At(std::uint64_t index, SampleScratch& scratch) const override {
    std::uint64_t place = 0;  // of the name: offset << 16 | length
    bool read = places_.ReadValue(index * sizeof(place), place);
    scratch.path.assign(folder_);
    scratch.path.resize(folder_.size() + (place & 0xffff));
    read = read && names_.Read(place >> 16, std::as_writable_bytes(
                                                std::span(scratch.path).subspan(folder_.size())));
    if (!read) {
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: the temporary index cannot be read at sample {}; {}",
                              Printable(folder_), index, kCheckTemporaryDisk));
    }
    const auto past = std::upper_bound(class_ends_.begin(), class_ends_.end(), index);
    const std::int64_t label = labelled_ ? past - class_ends_.begin() : -1;
    return SampleRef{scratch.path, 0,     0,
                     true,         label, std::string_view(scratch.path).substr(folder_.size())};
  }

 private:
  std::string folder_;                     // ends in a slash
  FileRange places_;                       // of each sample: where its name is in `names_`
  FileRange names_;                        // relative to the folder, one after the other
  std::vector<std::uint64_t> class_ends_;  // one past the last sample of each class
  bool labelled_;
};

class FolderBuilder {
 public:
  explicit FolderBuilder(const SourceOptions& options)
      : places_(options.index_folder), names_(options.index_folder) {}

  Result<void> Add(const std::string& prefix, const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      const std::size_t size = prefix.size() + file.size();
      if (size > kMaxNameSize) {
        return Fail(ErrorKind::kInput,
                    fmt::format("{}{}: this path within the data set has more than {} bytes; "
                                "shorten the names in it",
                                Printable(prefix), Printable(file), kMaxNameSize));
      }
      Result<void> added = places_.AppendValue(names_.size() << 16 | size);
      for (const std::string* part : {&prefix, &file}) {
        if (added) {
          added = names_.Append(std::as_bytes(std::span(*part)));
        }
      }
      if (!added) {
        return added;
      }
      ++count_;
    }
    return {};
  }
  void EndClass() { class_ends_.push_back(count_); }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  Result<std::unique_ptr<Source>> Finish(const std::filesystem::path& folder, bool labelled) {
    Result<FileRange> places = places_.Finish();
    PENSTOCK_TRY(places);
    Result<FileRange> names = names_.Finish();
    PENSTOCK_TRY(names);
    return std::make_unique<FolderSource>(folder, std::move(*places), std::move(*names),
                                          std::move(class_ends_), labelled);
  }

 private:
  RecordFile places_;
  RecordFile names_;
  std::vector<std::uint64_t> class_ends_;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> OpenFolder(const std::filesystem::path& folder,
                                           const SourceOptions& options) {
  Result<FolderEntries> top = ListFolder(folder);
  PENSTOCK_TRY(top);
  const std::string shown = Printable(folder.native());
  if (top->folders.empty() && top->files.empty()) {
    return Fail(
        ErrorKind::kInput,
        fmt::format("{}: is empty; give a folder with one subfolder of images for each class",
                    shown));
  }
  FolderBuilder builder(options);
  if (top->folders.empty()) {
    std::erase_if(top->files,
                  [](const std::string& name) { return !IsImageExtension(FileExtension(name)); });
    if (top->files.empty()) {
      return Fail(ErrorKind::kInput,
                  fmt::format("{}: holds no image; files must end in {}", shown, kExtensions));
    }
    PENSTOCK_TRY(builder.Add("", top->files));
    return builder.Finish(folder, false);
  }
  for (std::size_t i = 0; i < top->folders.size(); ++i) {
    const std::string& name = top->folders[i];
    Result<std::vector<FolderFiles>> found = WalkImages(folder / name);
    PENSTOCK_TRY(found);
    if (found->empty()) {
      // An error as in torchvision: otherwise a stray ".ipynb_checkpoints" would shift every label
      // by one.
      return Fail(ErrorKind::kInput,
                  fmt::format("{}/{}: class folder without an image; remove it, or add files that "
                              "end in {}",
                              shown, Printable(name), kExtensions));
    }
    for (const FolderFiles& part : *found) {
      const std::string prefix = part.folder.empty() ? name + "/" : name + "/" + part.folder + "/";
      PENSTOCK_TRY(builder.Add(prefix, part.files));
    }
    builder.EndClass();
    if (options.progress) {
      options.progress(i + 1, top->folders.size());
    }
  }
  return builder.Finish(folder, true);
}

}  // namespace penstock::loader
