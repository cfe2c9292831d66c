// SPDX-License-Identifier: Apache-2.0
//
// A program into which the agent is preloaded. It reads files in the way WAY and ends in the way
// END.
//   victim_reads WAY END FILE...
// Prints for each file a line with the number of bytes that it has read.

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::vector<std::string> g_files;
std::vector<std::atomic<long>> g_read(256);  // bytes of each file

void Count(std::size_t file, long bytes) {
  if (bytes < 0) _exit(90);
  g_read[file] += bytes;
}

int Open(std::size_t file) {
  const int fd = open(g_files[file].c_str(), O_RDONLY);
  if (fd < 0) _exit(91);
  return fd;
}

void KeptOpen() {
  const int fd = Open(0);
  char to[4096];
  for (int i = 0; i < 15000; ++i) Count(0, pread(fd, to, sizeof to, i % 7));
}

void ManyAtOnce() {
  std::vector<int> open;
  for (std::size_t i = 0; i < g_files.size(); ++i) open.push_back(Open(i));
  char to[512];
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < open.size(); ++i) {
      Count(i, read(open[i], to, 1 + i));
      if (round % 4 == 0) Count(i, read(open[i], to, 17));
    }
  }
}

// Eight threads read one descriptor. Four of them end; the others are still there when the process
// ends.
void SharedByThreads() {
  const int fd = Open(0);
  std::vector<std::thread> all;
  static std::atomic<int> done{0};
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([fd, t] {
      char to[1000];
      for (int i = 0; i < 4000; ++i) Count(0, pread(fd, to, 100 + static_cast<size_t>(t), i));
      ++done;
      while (t >= 4) pause();
    });
  }
  while (done != 8) usleep(1000);
  for (int t = 0; t < 8; ++t) {
    auto& thread = all[static_cast<std::size_t>(t)];
    t < 4 ? thread.join() : thread.detach();
  }
}

// A thread closes a descriptor and opens another file under the same number. The agent has not yet
// written spans for the reads of the first file, which another thread made.
void ClosedByAnother() {
  for (int round = 0; round < 50; ++round) {
    const int fd = Open(0);
    char to[100];
    Count(0, read(fd, to, sizeof to));
    int second = -1;
    std::thread([&] {
      close(fd);
      second = Open(1);
    }).join();
    if (second != fd) _exit(92);
    Count(1, read(second, to, 50));
    close(second);
  }
}

void Copies() {
  const int fd = Open(0);
  const int copy = dup(fd);
  const int other = fcntl(fd, F_DUPFD, 300);
  char to[64];
  for (int i = 0; i < 100; ++i) {
    Count(0, pread(fd, to, 10, i));
    Count(0, pread(copy, to, 20, i));
    Count(0, pread(other, to, 30, i));
    iovec parts[2] = {{to, 20}, {to + 20, 13}};
    Count(0, preadv(fd, parts, 2, i));
    Count(0, preadv2(fd, parts, 2, i, 0));
  }
  FILE* stream = fopen(g_files[1].c_str(), "rb");
  for (int i = 0; i < 10; ++i) Count(1, static_cast<long>(fread(to, 1, 11, stream)));
}

void Children() {
  const int fd = Open(0);
  char to[100];
  Count(0, pread(fd, to, 100, 0));
  int pipes[2];
  if (pipe(pipes) != 0) _exit(93);
  for (int i = 0; i < 4; ++i) {
    if (fork() == 0) {
      // At the fork the parent has a read without a span. Only the parent may write it.
      const long got = pread(fd, to, 10 + static_cast<size_t>(i), 0);
      if (write(pipes[1], &got, sizeof got) != sizeof got) _exit(94);
      i % 2 == 0 ? static_cast<void>(kill(getpid(), SIGKILL)) : _exit(0);
    }
    long got = 0;
    if (read(pipes[0], &got, sizeof got) != sizeof got) _exit(95);
    Count(0, got);
  }
  while (wait(nullptr) > 0) {
  }
  Count(0, pread(fd, to, 7, 0));
}

// Reuses the number of a descriptor from which nothing was read. The reads of the new owner must
// not get the name of the old file.
void Nameless(const std::string& how) {
  char to[4096] = {};
  const int fd = Open(0);
  int next = -1;
  if (how == "raw") {  // system calls that no hook sees
    syscall(SYS_close, fd);
    next = static_cast<int>(syscall(SYS_openat, AT_FDCWD, g_files[1].c_str(), O_RDONLY));
    Count(1, read(next, to, 1000));
    syscall(SYS_close, next);
    const int again = static_cast<int>(syscall(SYS_openat, AT_FDCWD, g_files[2].c_str(), O_RDONLY));
    if (again != fd) _exit(96);
    const int unread = Open(0);
    Count(0, read(unread, to, 5));
    return;
  }
  close(fd);
  if (how == "memfd") {
    next = static_cast<int>(syscall(SYS_memfd_create, "x", 0));
  } else if (how == "mkstemp") {
    std::string name = g_files[0] + "XXXXXX";
    next = mkstemp(name.data());
    unlink(name.c_str());
  } else if (how == "tmpfile") {
    next = open(g_files[0].substr(0, g_files[0].rfind('/')).c_str(), O_TMPFILE | O_RDWR, 0600);
  } else if (how == "passed") {
    int ends[2];
    const int memory = static_cast<int>(syscall(SYS_memfd_create, "x", 0));  // takes the number
    const int spare = Open(0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) _exit(97);
    char control[CMSG_SPACE(sizeof(int))] = {};
    iovec part = {to, 1};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &memory, sizeof memory);
    if (sendmsg(ends[0], &message, 0) != 1) _exit(98);
    close(spare);
    if (recvmsg(ends[1], &message, 0) != 1) _exit(99);
    memcpy(&next, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof next);
    if (next != spare) _exit(89);
  }
  if (next < 0 || (how != "passed" && next != fd)) _exit(88);
  if (ftruncate(next, 1 << 20) != 0) _exit(87);
  for (int i = 0; i < 256; ++i) {
    if (pread(next, to, sizeof to, i * 4096) != 4096) _exit(86);
  }
}

// Reads in four threads until it is killed. After each read a thread stores its count of bytes in
// the mapped file `progress`.
void Forever(const char* progress) {
  const int out = open(progress, O_RDWR);
  auto* said = static_cast<std::atomic<std::uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0));
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([said, t] {
      char to[64];
      const int fd = Open(0);
      for (std::uint64_t i = 0;; ++i) {
        if (pread(fd, to, 1, static_cast<off_t>(i % 100)) != 1) _exit(85);
        said[t * 8].store(i + 1, std::memory_order_relaxed);
        if (t % 2 == 1 && i % 3 == 0) {  // reads another file in between
          const int other = Open(1);
          if (read(other, to, 1) != 1) _exit(84);
          said[t * 8 + 1].store(i / 3 + 1, std::memory_order_relaxed);
          close(other);
        }
      }
    });
  }
  for (auto& t : all) t.join();
}

int End(const std::string& how) {
  for (std::size_t i = 0; i < g_files.size(); ++i) printf("%ld\n", g_read[i].load());
  fflush(stdout);
  if (how == "kill") kill(getpid(), SIGKILL);
  if (how == "_exit") _exit(0);
  if (how == "abort") abort();
  if (how == "segv") raise(SIGSEGV);
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "exec_self") {  // the new program has the same pid and claims another slot
    const std::string self = "/proc/self/exe";
    execl(self.c_str(), "victim_reads", "kept_open", "kill", g_files[0].c_str(), nullptr);
  }
  if (how == "exec_thread") {  // an exec by a thread that is not the first
    std::thread([] { execl("/bin/true", "true", nullptr); }).join();
  }
  if (how == "first_thread_gone") {
    std::thread([] {
      usleep(20000);
      _exit(0);
    }).detach();
    pthread_exit(nullptr);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string how = argv[1];
  for (int i = 3; i < argc; ++i) g_files.emplace_back(argv[i]);
  if (how == "kept_open") KeptOpen();
  if (how == "many_at_once") ManyAtOnce();
  if (how == "shared") SharedByThreads();
  if (how == "closed_by_another") ClosedByAnother();
  if (how == "copies") Copies();
  if (how == "children") Children();
  if (how == "memfd" || how == "mkstemp" || how == "tmpfile" || how == "raw" || how == "passed") {
    Nameless(how);
  }
  if (how == "forever") Forever(argv[2]);
  return End(argv[2]);
}
