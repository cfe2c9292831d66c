// SPDX-License-Identifier: Apache-2.0
//
// Decoding with the loader's decoder (whole pictures, regions, reduced size) and, to compare, with
// a plain loop over libjpeg's rows of the whole picture. Results are compared before anything is
// timed.
//
// Input: pictures made here (textures whose spectrum falls as 1/f, edges, sensor noise): 8 of 500 x
// 375, quality 96 in 4:4:4 and 95 in 4:2:0 (baseline and progressive), and 2 of 1920 x 1080,
// quality 90, 4:2:0. With `--files DIR` the *.jpg and *.JPEG of a folder are used instead. Each
// picture has 64 regions, as torchvision's RandomResizedCrop draws them (area 8 to 100 %, aspect
// 3:4 to 4:3).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <jpeglib.h>

#include "loader/decode/jpeg_decoder.h"
#include "tests/loader/support/jpeg_writer.h"

namespace {

using penstock::loader::DecodeOptions;
using penstock::loader::JpegDecoder;
using penstock::loader::Region;
using penstock::loader::Size;
namespace test = penstock::loader::test;

constexpr std::size_t kRegions = 64;
constexpr Size kTarget = {224, 224};

struct Picture {
  std::vector<std::byte> file;
  Size size;
  std::vector<Region> regions;
};
struct Set {
  std::string name;
  std::vector<Picture> pictures;
};

Region DrawRegion(Size size, std::mt19937& random) {
  std::uniform_real_distribution<double> scale(0.08, 1.0);
  std::uniform_real_distribution<double> log_ratio(std::log(3.0 / 4), std::log(4.0 / 3));
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = size.width * size.height * scale(random);
    const double ratio = std::exp(log_ratio(random));
    const int w = static_cast<int>(std::lround(std::sqrt(area * ratio)));
    const int h = static_cast<int>(std::lround(std::sqrt(area / ratio)));
    if (w > 0 && w <= size.width && h > 0 && h <= size.height) {
      return {std::uniform_int_distribution<int>(0, size.width - w)(random),
              std::uniform_int_distribution<int>(0, size.height - h)(random), w, h};
    }
  }
  return {0, 0, size.width, size.height};
}

Picture MakePictureOf(std::vector<std::byte> file, Size size, std::uint32_t seed) {
  Picture out{std::move(file), size, {}};
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < kRegions; ++i) {
    out.regions.push_back(DrawRegion(size, random));
  }
  return out;
}

// Adds smooth noise with `cell` pixels between its random values.
void AddOctave(std::vector<float>& plane, Size size, int cell, float amplitude,
               std::mt19937& random) {
  const int columns = size.width / cell + 2;
  const int rows = size.height / cell + 2;
  std::normal_distribution<float> normal(0, amplitude);
  std::vector<float> grid(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  std::generate(grid.begin(), grid.end(), [&] { return normal(random); });
  for (int y = 0; y < size.height; ++y) {
    const float v = static_cast<float>(y % cell) / static_cast<float>(cell);
    const float* above = grid.data() + static_cast<std::ptrdiff_t>(y / cell) * columns;
    const float* below = above + columns;
    float* out = plane.data() + static_cast<std::ptrdiff_t>(y) * size.width;
    for (int x = 0; x < size.width; ++x) {
      const float u = static_cast<float>(x % cell) / static_cast<float>(cell);
      const int i = x / cell;
      out[x] += (1 - v) * ((1 - u) * above[i] + u * above[i + 1]) +
                v * ((1 - u) * below[i] + u * below[i + 1]);
    }
  }
}

// Luma with a 1/f spectrum, an edge and noise; chroma that varies slowly.
std::vector<std::uint8_t> MakePhoto(Size size, std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t pixels =
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  std::array<std::vector<float>, 3> planes;  // luma and two colour differences
  for (std::size_t p = 0; p < planes.size(); ++p) {
    planes[p].assign(pixels, p == 0 ? 125.0F : 0.0F);
    for (int cell = 128; cell >= (p == 0 ? 2 : 8); cell /= 2) {
      AddOctave(planes[p], size, cell, (p == 0 ? 2.2F : 1.0F) * std::sqrt(static_cast<float>(cell)),
                random);
    }
  }
  std::normal_distribution<float> noise(0, 3.0F);
  std::vector<std::uint8_t> out;
  out.reserve(pixels * 3);
  for (std::size_t i = 0; i < pixels; ++i) {
    const int x = static_cast<int>(i % static_cast<std::size_t>(size.width));
    const int y = static_cast<int>(i / static_cast<std::size_t>(size.width));
    const float luma = planes[0][i] + (x * 3 + y * 2 > size.width * 2 ? 35.0F : 0.0F);
    for (const float difference : {planes[1][i], -planes[1][i] - planes[2][i], planes[2][i]}) {
      out.push_back(
          static_cast<std::uint8_t>(std::clamp(luma + difference + noise(random), 0.0F, 255.0F)));
    }
  }
  return out;
}

Set MakeSet(std::string name, int count, test::JpegSpec spec) {
  Set out{std::move(name), {}};
  for (int i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint32_t>(i + 1);
    const Size size = {spec.width, spec.height};
    out.pictures.push_back(
        MakePictureOf(test::EncodeJpeg(spec, MakePhoto(size, seed)), size, seed));
  }
  return out;
}

std::vector<Set> MakeSets() {
  std::vector<Set> out;
  test::JpegSpec spec;
  spec.width = 500;
  spec.height = 375;
  spec.quality = 96;
  out.push_back(MakeSet("500px_q96_444", 8, spec));
  spec.quality = 95;
  spec.sampling_x = spec.sampling_y = 2;
  out.push_back(MakeSet("500px_q95_420", 8, spec));
  spec.progressive = true;
  out.push_back(MakeSet("500px_q95_420_progressive", 2, spec));
  spec.progressive = false;
  spec.width = 1920;
  spec.height = 1080;
  spec.quality = 90;
  out.push_back(MakeSet("1080p_q90_420", 2, spec));
  return out;
}

// Reads a folder. Leaves out files that the decoder refuses, with a line on standard error.
std::vector<Set> ReadSet(const std::filesystem::path& folder) {
  Set out{"files", {}};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string suffix = entry.path().extension().string();
    if (suffix == ".jpg" || suffix == ".jpeg" || suffix == ".JPEG" || suffix == ".JPG") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(text));
    std::vector<std::byte> file(bytes.begin(), bytes.end());
    JpegDecoder decoder({});
    const auto info = decoder.ReadHeader(file);
    if (!info || info->cmyk) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), info ? "CMYK" : info.error().message.c_str());
      continue;
    }
    const auto seed = static_cast<std::uint32_t>(out.pictures.size() + 1);
    out.pictures.push_back(MakePictureOf(std::move(file), {info->width, info->height}, seed));
  }
  return {std::move(out)};
}

// Uses libjpeg as its example program does, but with one instance and one buffer for all files.
class PlainDecoder {
 public:
  PlainDecoder() {
    cinfo_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&cinfo_);
  }
  ~PlainDecoder() { jpeg_destroy_decompress(&cinfo_); }
  PlainDecoder(const PlainDecoder&) = delete;
  PlainDecoder& operator=(const PlainDecoder&) = delete;

  const std::vector<std::uint8_t>& Decode(std::span<const std::byte> file) {
    jpeg_mem_src(&cinfo_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&cinfo_, TRUE);
    cinfo_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&cinfo_);
    const std::size_t stride = std::size_t{cinfo_.output_width} * 3;
    pixels_.resize(stride * cinfo_.output_height);
    while (cinfo_.output_scanline < cinfo_.output_height) {
      JSAMPROW row = pixels_.data() + cinfo_.output_scanline * stride;
      jpeg_read_scanlines(&cinfo_, &row, 1);
    }
    jpeg_finish_decompress(&cinfo_);
    return pixels_;
  }

 private:
  jpeg_decompress_struct cinfo_ = {};
  jpeg_error_mgr errors_ = {};
  std::vector<std::uint8_t> pixels_;
};

bool RegionAgrees(JpegDecoder& decoder, const Picture& picture, const Region& region,
                  const std::vector<std::uint8_t>& want) {
  if (!decoder.ReadHeader(picture.file)) {
    return false;
  }
  const auto got = decoder.Decode(region, {});
  for (int y = 0; y < region.height; ++y) {
    const std::ptrdiff_t from = (std::ptrdiff_t{region.y + y} * picture.size.width + region.x) * 3;
    if (!got || std::memcmp(got->view.pixels + y * got->view.stride, want.data() + from,
                            static_cast<std::size_t>(region.width) * 3) != 0) {
      return false;
    }
  }
  return true;
}

// Compares every picture, decoded as a whole and in four regions, with the output of PlainDecoder.
bool ResultsAgree(const Set& set) {
  PlainDecoder plain;
  JpegDecoder decoder({});
  for (const Picture& picture : set.pictures) {
    const auto& want = plain.Decode(picture.file);
    std::vector<Region> regions(picture.regions.begin(), picture.regions.begin() + 4);
    regions.push_back({0, 0, picture.size.width, picture.size.height});
    if (!std::all_of(regions.begin(), regions.end(), [&](const Region& region) {
          return RegionAgrees(decoder, picture, region, want);
        })) {
      return false;
    }
  }
  return true;
}

// Sets the counters: pictures a second, compressed bytes a second, bits per pixel.
void Report(benchmark::State& state, const Set& set) {
  double bytes = 0;
  double pixels = 0;
  for (const Picture& picture : set.pictures) {
    bytes += static_cast<double>(picture.file.size());
    pixels += static_cast<double>(picture.size.width) * picture.size.height;
  }
  const auto count = static_cast<double>(set.pictures.size());
  const auto iterations = static_cast<double>(state.iterations());
  state.counters["images/s"] = benchmark::Counter(iterations, benchmark::Counter::kIsRate);
  state.counters["bytes/s"] =
      benchmark::Counter(iterations * bytes / count, benchmark::Counter::kIsRate);
  state.counters["KB"] = bytes / count / 1000;
  state.counters["bits/px"] = bytes * 8 / pixels;
}

void PlainWhole(benchmark::State& state, const Set& set) {
  PlainDecoder decoder;
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(decoder.Decode(set.pictures[next].file).data());
    next = (next + 1) % set.pictures.size();
  }
  Report(state, set);
}

enum class What { kHeader, kWhole, kRegion };

void Loader(benchmark::State& state, const Set& set, What what, const DecodeOptions& options) {
  JpegDecoder decoder(options);
  std::size_t next = 0;
  std::size_t region = 0;
  for (auto _ : state) {
    const Picture& picture = set.pictures[next];
    const auto info = decoder.ReadHeader(picture.file);
    if (!info) {
      state.SkipWithError(info.error().message.c_str());
      return;
    }
    if (what != What::kHeader) {
      const Region all = {0, 0, info->width, info->height};
      auto got = decoder.Decode(what == What::kRegion ? picture.regions[region] : all, kTarget);
      if (!got) {
        state.SkipWithError(got.error().message.c_str());
        return;
      }
      benchmark::DoNotOptimize(got->view.pixels);
    }
    if (++next == set.pictures.size()) {
      next = 0;
      region = (region + 1) % kRegions;
    }
  }
  Report(state, set);
}

void Register(const Set& set) {
  const auto add = [&](const char* name, What what, const DecodeOptions& options) {
    benchmark::RegisterBenchmark((set.name + "/" + name).c_str(), [&set, what, options](
                                                                      benchmark::State& state) {
      Loader(state, set, what, options);
    })->Unit(benchmark::kMicrosecond);
  };
  benchmark::RegisterBenchmark((set.name + "/plain_whole").c_str(), [&set](
                                                                        benchmark::State& state) {
    PlainWhole(state, set);
  })->Unit(benchmark::kMicrosecond);
  add("header", What::kHeader, {});
  add("whole", What::kWhole, {});
  add("whole_libjpeg_huffman", What::kWhole, {.own_huffman = false});
  add("whole_fast", What::kWhole, {.fancy_upsampling = false, .fast_dct = true});
  add("whole_reduced", What::kWhole, {.reduce = 1});
  add("region", What::kRegion, {});
  add("region_libjpeg_huffman", What::kRegion, {.own_huffman = false});
  add("region_fast", What::kRegion, {.fancy_upsampling = false, .fast_dct = true});
  add("region_reduced", What::kRegion, {.reduce = 1});
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--files") {
      folder = argv[i + 1];
      std::rotate(argv + i, argv + i + 2, argv + argc);
      argc -= 2;
      break;
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  std::error_code no_folder;
  if (!folder.empty() && !std::filesystem::is_directory(folder, no_folder)) {
    std::fprintf(stderr, "loader_decode_bench: %s is not a folder\n", folder.c_str());
    return 4;
  }
  const std::vector<Set> sets = folder.empty() ? MakeSets() : ReadSet(folder);
  for (const Set& set : sets) {
    if (set.pictures.empty() || !ResultsAgree(set)) {
      std::fprintf(stderr, "loader_decode_bench: %s: %s\n", set.name.c_str(),
                   set.pictures.empty() ? "no JPEG files" : "regions differ from libjpeg's");
      return 1;
    }
    Register(set);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
