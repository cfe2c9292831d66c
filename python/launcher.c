// SPDX-License-Identifier: Apache-2.0
//
// The command `penstock` of an installed wheel. It finds the package penstock where pip has put it
// relative to this program, and becomes the program in that package. It starts no interpreter.
//
// With pip, pipx, uv and --user:
//   prefix/bin/penstock leads to prefix/lib*/python3.N/{site,dist}-packages/penstock
// With pip --target DIR:
//   DIR/bin/penstock leads to DIR/penstock
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "penstock/bin/penstock"

// Becomes FOLDER/penstock/bin/penstock if that package has our version: Pythons that share a prefix
// may have different ones.
static void TryFolder(const char* folder, char** argv) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/penstock/VERSION-" PENSTOCK_VERSION, folder);
  if (length < 0 || (size_t)length >= sizeof path || access(path, R_OK) != 0) return;
  snprintf(path, sizeof path, "%s/" PROGRAM, folder);
  execv(path, argv);
  if (errno != ENOENT) {
    fprintf(stderr, "penstock: %s: cannot be executed: %s\n", path, strerror(errno));
    _exit(126);
  }
}

// Tries every python3.N in LIBRARY.
static void TryPythons(const char* library, char** argv) {
  static const char* const kPackages[] = {"site-packages", "dist-packages"};
  DIR* folder = opendir(library);
  if (folder == NULL) return;
  for (const struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    if (strncmp(entry->d_name, "python3", 7) != 0 && strncmp(entry->d_name, "pypy3", 5) != 0)
      continue;
    for (size_t i = 0; i < sizeof kPackages / sizeof *kPackages; ++i) {
      char path[PATH_MAX];
      const int length =
          snprintf(path, sizeof path, "%s/%s/%s", library, entry->d_name, kPackages[i]);
      if (length > 0 && (size_t)length < sizeof path) TryFolder(path, argv);
    }
  }
  closedir(folder);
}

int main(int argc, char** argv) {
  static const char* const kLibraries[] = {"lib", "lib64", "local/lib"};
  char prefix[PATH_MAX];
  (void)argc;
  ssize_t size = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
  if (size > 0) {
    prefix[size] = 0;
    for (int i = 0; i < 2; ++i) {  // prefix/bin/penstock
      char* slash = strrchr(prefix, '/');
      if (slash != NULL) *slash = 0;
    }
    for (size_t i = 0; i < sizeof kLibraries / sizeof *kLibraries; ++i) {
      char library[PATH_MAX];
      const int length = snprintf(library, sizeof library, "%s/%s", prefix, kLibraries[i]);
      if (length > 0 && (size_t)length < sizeof library) TryPythons(library, argv);
    }
    TryFolder(prefix, argv);
  }
  fprintf(stderr,
          "penstock: the Python package penstock-profiler " PENSTOCK_VERSION
          " is not beside this program (%s); try: python -m penstock, or install it again\n",
          size > 0 ? prefix : "/proc is not mounted");
  return 127;
}
