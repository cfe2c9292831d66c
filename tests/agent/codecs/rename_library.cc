// SPDX-License-Identifier: Apache-2.0
//
// rename_library IN OLD NEW OUT: copies a library with every OLD in it replaced by NEW (of the same
// length), so that its soname differs and the loader takes it for another library.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string from = argv[2];
  const std::string to = argv[3];
  if (from.size() != to.size() || bytes.empty()) return 1;
  size_t count = 0;
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
    bytes.replace(at, from.size(), to);
    ++count;
  }
  std::ofstream(argv[4], std::ios::binary) << bytes;
  return count != 0 ? 0 : 1;
}
