// SPDX-License-Identifier: Apache-2.0
//
// Replaces what names a person, a machine or a project by stand-ins: /home/ann/cats/17.jpg becomes
// /d1/d2/d3/f1.jpg. Equal names get equal stand-ins; a folder and a file of one name get different
// ones. Paths keep their depth and extension, and names that public_names.h knows stay. Every other
// name is replaced. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::traces {

class StandIns {
 public:
  // A path below an installed library keeps its part from "site-packages" or "lib/python3.10" on,
  // except for packages that are not public. "<frozen os>", "pipe:[17]" and paths in /usr/lib or
  // /proc stay, but not the places that /proc leads to. A line number at the end stays:
  // "/home/ann/train.py:88".
  [[nodiscard]] std::string Path(std::string_view path);
  // The same for a folder.
  [[nodiscard]] std::string Folder(std::string_view path);
  // The name of a span, a kernel or a thread. Identifiers that are not public are replaced.
  // "torch.nn.Linear" is public as a whole. Of "cudaX" only the parts that are no technical words
  // are replaced.
  [[nodiscard]] std::string Name(std::string_view text);
  // A function written in C: as Name(), but keeps names of Python's own modules and types as well:
  // "json.loads", "list.append".
  [[nodiscard]] std::string Builtin(std::string_view text);
  // A function of the program: keeps only "__init__" and "<lambda>".
  [[nodiscard]] std::string Function(std::string_view name);
  // A word of a command line. Numbers, options and public words stay; addresses do not.
  [[nodiscard]] std::string Word(std::string_view word);
  // A line of words, quoted as QuoteCommand() does.
  [[nodiscard]] std::string CommandLine(std::string_view text);
  // A sentence of ours: only paths and addresses in it are replaced.
  [[nodiscard]] std::string Sentence(std::string_view text);
  // "18 /opt/ann/libcupti.so": what follows the first blank is one path.
  [[nodiscard]] std::string VersionAndPath(std::string_view text);
  [[nodiscard]] std::string Host(std::string_view host);
  // The name of a counter, which may end in a host: "http.connect_ns@host1:8080". Names that
  // Penstock gives stay. A program or another tool may give others: they are replaced as by Name().
  [[nodiscard]] std::string Counter(std::string_view name);
  // An identifier of a boot or a device.
  [[nodiscard]] std::string Id(std::string_view id);

  // How many different names have stand-ins.
  struct Counts {
    std::size_t files = 0;
    std::size_t folders = 0;
    std::size_t names = 0;  // of functions, classes and ranges
    std::size_t hosts = 0;
    std::size_t words = 0;  // of command lines
    std::size_t ids = 0;
    std::size_t uses = 0;  // how often a stand-in was put in
  };
  [[nodiscard]] Counts counts() const;

 private:
  using Numbers = std::unordered_map<std::string, std::size_t>;

  std::string Of(Numbers& numbers, std::string_view prefix, std::string_view name);
  std::string WholePath(std::string_view path, bool folder);
  // `begin`: how many characters at the front are public, perhaps all. They stay.
  std::string PathBehind(std::string_view path, std::size_t begin, bool folder);
  std::string Component(std::string_view name, bool folder);
  std::string Scheme(std::string_view scheme);
  std::string HostAndPort(std::string_view text);
  // Which names stay: special methods only, libraries' too, or also those of Python's own modules.
  enum class Known : std::uint8_t { kNothing, kLibraries, kModules };
  std::string Identifiers(std::string_view text, Known known);
  std::string PublicParts(std::string_view word);

  Numbers files_, folders_, names_, hosts_, words_, ids_;
  std::size_t uses_ = 0;
};

}  // namespace penstock::traces
