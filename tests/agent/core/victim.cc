// SPDX-License-Identifier: Apache-2.0
//
// A program into which the agent is preloaded. Each subcommand reads a file in one way, or starts
// threads and processes in one way. Prints what it read, so that runs with and without the agent
// can be compared.

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

extern "C" ssize_t __read_chk(int, void*, size_t, size_t);
extern "C" ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
extern "C" int __open64_2(const char*, int);
extern "C" int __openat_2(int, const char*, int);
extern "C" size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
extern char** environ;

namespace {

std::vector<char> g_buffer(1 << 20);

long ReadAll(int fd) {
  long total = 0;
  for (ssize_t n; (n = read(fd, g_buffer.data(), 4096)) > 0;) total += n;
  close(fd);
  return total;
}

long ReadStream(FILE* f) {
  long total = 0;
  for (size_t n; (n = fread(g_buffer.data(), 1, 10000, f)) > 0;) total += static_cast<long>(n);
  fclose(f);
  return total;
}

long Read(const std::string& how, const char* path) {
  struct stat st;
  stat(path, &st);
  const auto size = static_cast<size_t>(st.st_size);
  char* to = g_buffer.data();
  if (how == "read") return ReadAll(open(path, O_RDONLY));
  if (how == "read_chk") {
    const int fd = __open64_2(path, O_RDONLY);
    const long n = __read_chk(fd, to, size, g_buffer.size());
    close(fd);
    return n;
  }
  if (how == "pread") {
    const int fd = open64(path, O_RDONLY);
    const long n = pread(fd, to, size / 2, 0) +
                   pread64(fd, to, size - size / 2, static_cast<off64_t>(size / 2));
    close(fd);
    return n;
  }
  if (how == "pread_chk") {
    const int fd = __openat_2(AT_FDCWD, path, O_RDONLY);
    const long n = __pread64_chk(fd, to, size, 0, g_buffer.size());
    close(fd);
    return n;
  }
  if (how == "readv") {
    const int fd = openat(AT_FDCWD, path, O_RDONLY);
    iovec parts[2] = {{to, size / 3}, {to + size / 3, size - size / 3}};
    const long n = readv(fd, parts, 2);
    close(fd);
    return n;
  }
  if (how == "preadv2") {
    const int fd = openat64(AT_FDCWD, path, O_RDONLY);
    iovec parts[2] = {{to, size / 3}, {to + size / 3, size - size / 3}};
    const long n = preadv2(fd, parts, 2, 0, 0);
    close(fd);
    return n;
  }
  if (how == "sendfile" || how == "copy_file_range") {
    const int fd = open(path, O_RDONLY);
    const int copy = open((std::string(path) + ".copy").c_str(), O_WRONLY | O_CREAT, 0600);
    const long n = how == "sendfile" ? sendfile(copy, fd, nullptr, size)
                                     : copy_file_range(fd, nullptr, copy, nullptr, size, 0);
    close(copy);
    if (n != static_cast<long>(size)) return n;
    const long again = pread(fd, to, size, 0);
    close(fd);
    return again;
  }
  if (how == "fread") return ReadStream(fopen(path, "rb"));
  if (how == "fread_unlocked") {
    FILE* f = fopen64(path, "rb");
    const size_t n = fread_unlocked(to, 1, size, f);
    fclose(f);
    return static_cast<long>(n);
  }
  if (how == "fread_chk") {
    FILE* f = fopen(path, "rb");
    const size_t n = __fread_chk(to, g_buffer.size(), 1, size, f);
    fclose(f);
    return static_cast<long>(n);
  }
  if (how == "fgets") {
    FILE* f = fopen(path, "r");
    long total = 0;
    while (fgets(to, 4096, f) != nullptr) total += static_cast<long>(strlen(to));
    fclose(f);
    return total;
  }
  if (how == "getline") {
    FILE* f = fopen(path, "r");
    char* line = nullptr;
    size_t room = 0;
    long total = 0;
    for (ssize_t n; (n = getline(&line, &room, f)) > 0;) total += n;
    free(line);
    fclose(f);
    return total;
  }
  if (how == "fdopen") {
    const int fd = open(path, O_RDONLY);
    return ReadStream(fdopen(fd, "rb"));
  }
  if (how == "dup_fdopen") {  // as numpy.fromfile does
    const int fd = open(path, O_RDONLY);
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    const long n = ReadStream(fdopen(copy, "rb"));
    close(fd);
    return n;
  }
  if (how == "dup2") {
    const int fd = open(path, O_RDONLY);
    dup2(fd, 200);
    close(fd);
    return ReadAll(200);
  }
  if (how == "memory_stream") {  // fread() takes 1000 bytes; the buffer of the stream gets more
    FILE* f = fmemopen(to, size, "rb");
    const size_t n = fread(to + size, 1, 1000, f);
    fclose(f);
    return n == 1000 ? ReadAll(open(path, O_RDONLY)) : -1;
  }
  if (how == "ifstream") {
    std::ifstream in(path, std::ios::binary);
    in.read(to, static_cast<std::streamsize>(size));
    return static_cast<long>(in.gcount());
  }
  if (how == "mmap") {
    const int fd = open(path, O_RDONLY);
    auto* p = static_cast<char*>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0));
    close(fd);
    long sum = 0;
    for (size_t i = 0; i < size; ++i) sum += p[i] != 0;
    munmap(p, size);
    return sum >= 0 ? static_cast<long>(size) : 0;
  }
  if (how == "high_fd") {  // beyond 1024, in case a table has an entry for several descriptors
    const int fd = open(path, O_RDONLY);
    const int high = fcntl(fd, F_DUPFD, 1029);
    close(fd);
    return ReadAll(high);
  }
  return -1;
}

int Fork(const char* path) {
  Read("read", path);
  for (int i = 0; i < 3; ++i) {
    if (fork() == 0) {
      Read("read", path);
      _exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
  Read("read", path);
  return 0;
}

int RawClone(const char* path) {
  Read("read", path);
  const long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    Read("read", path);
    syscall(SYS_exit_group, 0);
  }
  int status;
  waitpid(static_cast<pid_t>(pid), &status, 0);
  Read("read", path);
  return 0;
}

int Vfork(const char* path) {
  const int fd = open(path, O_RDONLY);
  if (read(fd, g_buffer.data(), 1000) != 1000) return 1;
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  int status;
  waitpid(pid, &status, 0);
  ReadAll(fd);
  return WEXITSTATUS(status);
}

// Executes this program with an environment that has none of our variables.
int Exec(const std::string& how, char* self, char* path) {
  char command[] = "read";
  char* args[] = {self, command, path, nullptr};
  char home[] = "HOME=/";
  char* env[] = {home, nullptr};
  if (how == "execve") {
    execve(self, args, env);
    return 1;
  }
  if (how == "fexecve" || how == "execveat_empty_path") {
    const int program = open(self, O_RDONLY | O_CLOEXEC);
    how == "fexecve" ? fexecve(program, args, env)
                     : execveat(program, "", args, env, AT_EMPTY_PATH);
    return 1;
  }
  if (how == "execv_cleared") {
    clearenv();
    execv(self, args);
    return 1;
  }
  pid_t pid = 0;
  if (how == "posix_spawn" && posix_spawn(&pid, self, nullptr, nullptr, args, env) != 0) return 1;
  int status = 1;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

int Threads(const char* path) {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([path] {
      std::vector<char> own(8192);
      for (int k = 0; k < 50; ++k) {
        const int fd = open(path, O_RDONLY);
        while (read(fd, own.data(), own.size()) > 0) {
        }
        close(fd);
      }
    });
  }
  for (auto& t : all) t.join();
  return 0;
}

void OnAlarm(int) {
  static char spare[256];
  const int fd = open("/proc/self/stat", O_RDONLY);
  if (fd >= 0) {
    if (read(fd, spare, sizeof spare) < 0) _exit(9);
    close(fd);
  }
}

// Reads the file while a signal handler, which also reads, interrupts these reads.
int Signals(const char* path) {
  struct sigaction action = {};
  action.sa_handler = OnAlarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  ualarm(200, 200);
  for (int i = 0; i < 3000; ++i) Read("read", path);
  ualarm(0, 0);
  return 0;
}

int Errno(const char* path) {
  errno = 77;
  const int fd = open(path, O_RDONLY);
  if (errno != 77) return 1;
  if (read(fd, g_buffer.data(), 10) != 10 || errno != 77) return 2;
  if (read(-1, g_buffer.data(), 10) != -1 || errno != EBADF) return 3;
  errno = 77;
  close(fd);
  if (errno != 77) return 4;
  if (open("/nonexistent/x", O_RDONLY) != -1 || errno != ENOENT) return 5;
  char text[] = "line";
  FILE* in_memory = fmemopen(text, sizeof text - 1, "r");  // has no descriptor
  char* line = nullptr;
  size_t room = 0;
  errno = 77;
  if (getline(&line, &room, in_memory) != 4 || errno != 77) return 6;
  if (getline(&line, &room, in_memory) != -1 || errno != 77) return 7;
  if (fread(text, 1, 1, in_memory) != 0 || errno != 77) return 8;
  if (fclose(in_memory) != 0 || errno != 77) return 9;
  free(line);
  return 0;
}

// Receives the same bytes over TCP twice: with MSG_PEEK, which leaves them in the socket, and
// without.
int Peek() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  auto* address = reinterpret_cast<sockaddr*>(&place);
  if (bind(listener, address, size) != 0 || listen(listener, 1) != 0) return 1;
  if (getsockname(listener, address, &size) != 0 || connect(out, address, size) != 0) return 2;
  const int in = accept(listener, nullptr, nullptr);
  if (send(out, g_buffer.data(), 1000, 0) != 1000) return 3;
  if (recv(in, g_buffer.data(), 1000, MSG_PEEK | MSG_WAITALL) != 1000) return 4;
  if (recv(in, g_buffer.data(), 1000, MSG_WAITALL) != 1000) return 5;
  return 0;
}

int Forever(const char* path) {
  for (;;) Read("read", path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string how = argv[1];
  if (how == "fork") return Fork(argv[2]);
  if (how == "clone") return RawClone(argv[2]);
  if (how == "vfork") return Vfork(argv[2]);
  if (how == "threads") return Threads(argv[2]);
  // When a thread writes its first record, the agent compares the bytes read so far with the
  // kernel's count.
  if (how == "threads_then_one") return Threads(argv[2]) + (Read("read", argv[2]) > 0 ? 0 : 1);
  if (how == "signals") return Signals(argv[2]);
  if (how == "errno") return Errno(argv[2]);
  if (how == "peek") return Peek();
  if (how == "forever") return Forever(argv[2]);
  if (how == "execve" || how == "execv_cleared" || how == "posix_spawn" || how == "fexecve" ||
      how == "execveat_empty_path") {
    return Exec(how, argv[0], argv[2]);
  }
  printf("%ld\n", Read(how, argv[2]));
  return 0;
}
