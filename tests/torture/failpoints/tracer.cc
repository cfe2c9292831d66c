// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/failpoints/tracer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <utility>

namespace failpoints {
namespace {

volatile std::sig_atomic_t g_late = 0;

long Trace(int request, pid_t tid, unsigned long address = 0, unsigned long data = 0) {
  return ptrace(static_cast<__ptrace_request>(request), tid, address, data);
}

// Returns whether a full disk may make the call fail. It never does for writes to a terminal or a
// pipe.
bool IsAboutDisk(const Task& task) {
  if (task.call != SYS_write && task.call != SYS_writev && task.call != SYS_pwrite64) return true;
  struct stat info {};
  const std::string name =
      "/proc/" + std::to_string(task.tid) + "/fd/" + std::to_string(task.arguments[0]);
  return stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

void Tracer::Resume(pid_t tid, int signal) const {
  Trace(PTRACE_SYSCALL, tid, 0, static_cast<unsigned long>(signal));
}

void Tracer::Start() {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) std::exit(kUsage);
  root_ = fork();
  if (root_ == 0) {
    char byte = 0;
    if (read(go[0], &byte, 1) == 1) execvp(arguments_.command[0], arguments_.command);
    _exit(127);
  }
  constexpr unsigned long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
                                     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                                     PTRACE_O_EXITKILL;
  if (root_ < 0 || Trace(PTRACE_SEIZE, root_, 0, kOptions) != 0) {
    std::perror("failpoints: cannot trace");
    std::exit(kUsage);
  }
  Task task;
  task.tid = task.process = root_;
  task.lane = "0";
  task.image = std::make_shared<Image>();
  tasks_[root_] = std::move(task);
  if (write(go[1], "g", 1) != 1) std::exit(kUsage);
  close(go[0]);
  close(go[1]);
}

void Tracer::KillAll() {
  for (const auto& [tid, task] : tasks_) kill(task.process, SIGKILL);
  for (const pid_t tid : early_) kill(tid, SIGKILL);
}

void Tracer::OnNewTask(Task& parent) {
  unsigned long message = 0;
  Trace(PTRACE_GETEVENTMSG, parent.tid, 0, reinterpret_cast<unsigned long>(&message));
  const auto tid = static_cast<pid_t>(message);
  Task task;
  task.tid = tid;
  task.process = ProcessOf(tid);
  pids_.push_back(task.process);
  task.lane = parent.lane + "." + std::to_string(parent.children++);
  task.image =
      task.process == parent.process ? parent.image : std::make_shared<Image>(*parent.image);
  tasks_[tid] = std::move(task);
  if (early_.erase(tid) != 0) Resume(tid);
}

void Tracer::OnExec(pid_t tid) {
  unsigned long former = 0;
  Trace(PTRACE_GETEVENTMSG, tid, 0, reinterpret_cast<unsigned long>(&former));
  if (const auto from = static_cast<pid_t>(former); from != tid && tasks_.count(from) != 0) {
    Task moved = std::move(tasks_[from]);
    tasks_.erase(from);
    moved.tid = tid;
    tasks_[tid] = std::move(moved);
  }
  Task& task = tasks_[tid];
  task.image = std::make_shared<Image>();
  task.image->program = ProgramOf(tid);
  started_ = true;
}

// Makes the call that the task has just entered fail as the arguments say. `point`: the call is the
// point itself, not a later call that a lasting failure also affects.
void Tracer::Break(Task& task, bool point) {
  const Failure& failure = arguments_.failure;
  user_regs_struct registers{};
  if (Trace(PTRACE_GETREGS, task.tid, 0, reinterpret_cast<unsigned long>(&registers)) != 0) return;
  if (point) stack_ = StackOf(task.tid, registers.rip, registers.rsp);
  switch (failure.kind) {
    case Kind::kError:
      task.fail = true;
      muted_ = muted_ || ((task.call == SYS_write || task.call == SYS_writev) &&
                          task.arguments[0] == STDERR_FILENO);
      if (task.call == SYS_brk) {
        registers.rdi = 0;  // with this argument brk changes nothing, which is how it fails
        task.fail = false;
        task.restore = true;
      } else if (task.call != SYS_close) {
        registers.orig_rax = ~0ull;
      }
      break;
    case Kind::kShort:
      if (registers.rdx < 2) return;
      registers.rdx /= 2;
      task.restore = true;
      break;
    case Kind::kKill:
    case Kind::kAll:
      registers.orig_rax = ~0ull;
      ++killed_;
      break;
    case Kind::kKillAfter:
      task.kill = true;
      break;
    case Kind::kAllAfter:
      task.kill_all = true;
      break;
    case Kind::kNone:
      return;
  }
  Trace(PTRACE_SETREGS, task.tid, 0, reinterpret_cast<unsigned long>(&registers));
  if (failure.kind == Kind::kKill) kill(task.process, SIGKILL);
  if (failure.kind == Kind::kAll) KillAll();
}

void Tracer::OnCall(Task& task, const __ptrace_syscall_info& info) {
  task.call = static_cast<long>(info.entry.nr);
  for (int i = 0; i < 6; ++i) task.arguments[i] = info.entry.args[i];
  task.fail = task.restore = task.kill = task.kill_all = false;
  if (!started_) return;
  const std::string& whose = CodeAt(task, info.instruction_pointer);
  const int index = ++task.made[{whose, task.call}];
  if (arguments_.point.empty() && arguments_.list == nullptr) return;
  const std::string point =
      whose + ":" + task.lane + ":" + NameOf(task.call) + ":" + std::to_string(index);
  if (arguments_.list != nullptr) {
    std::fprintf(arguments_.list, "%s", point.c_str());
    for (const std::string& failure : FailuresOf(task.call)) {
      if (failure == "ENOSPC" && !IsAboutDisk(task)) continue;
      std::fprintf(arguments_.list, "\t%s", failure.c_str());
    }
    std::fprintf(arguments_.list, "\n");
  }
  if (!reached_ && point == arguments_.point) {
    reached_ = true;
    whose_ = whose;
    program_ = task.image->program;
    Break(task, true);
  } else if (reached_ && arguments_.failure.lasting && whose == whose_ &&
             task.call != SYS_execve &&  // the command has to start
             MayFail(task.call, arguments_.failure.error) && IsAboutDisk(task)) {
    Break(task, false);
  }
}

void Tracer::OnReturn(Task& task, const __ptrace_syscall_info& info) {
  user_regs_struct registers{};
  if (task.fail || task.restore) {
    if (Trace(PTRACE_GETREGS, task.tid, 0, reinterpret_cast<unsigned long>(&registers)) == 0) {
      if (task.fail) {
        registers.rax =
            static_cast<unsigned long long>(-static_cast<long>(arguments_.failure.error));
      }
      registers.rdi = task.arguments[0];
      registers.rdx = task.arguments[2];
      Trace(PTRACE_SETREGS, task.tid, 0, reinterpret_cast<unsigned long>(&registers));
    }
  }
  if (!task.fail && log_ && started_) {
    log_->Add(task, static_cast<long>(info.exit.rval));
  }
  if (task.kill) {
    ++killed_;
    kill(task.process, SIGKILL);
  }
  if (task.kill_all) {
    ++killed_;
    KillAll();
  }
  task.fail = task.restore = task.kill = task.kill_all = false;
}

void Tracer::OnStop(pid_t tid, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  const auto found = tasks_.find(tid);
  if (found == tasks_.end()) {
    early_.insert(tid);
    return;
  }
  Task& task = found->second;
  if (signal == (SIGTRAP | 0x80)) {
    __ptrace_syscall_info info{};
    if (Trace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, reinterpret_cast<unsigned long>(&info)) >
        0) {
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY) OnCall(task, info);
      if (info.op == PTRACE_SYSCALL_INFO_EXIT) OnReturn(task, info);
    }
    return Resume(tid);
  }
  switch (event) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      OnNewTask(task);
      return Resume(tid);
    case PTRACE_EVENT_EXEC:
      OnExec(tid);
      return Resume(tid);
    case PTRACE_EVENT_STOP:
      // A task that a signal stopped must stay stopped up to SIGCONT. The stop of a new task ends
      // at once.
      if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
        Trace(PTRACE_LISTEN, tid);
        return;
      }
      return Resume(tid);
    default:
      return Resume(tid, event == 0 ? signal : 0);
  }
}

void Tracer::Report() const {
  if (arguments_.result == nullptr) return;
  std::fprintf(arguments_.result,
               "{\"reached\": %s, \"hung\": %s, \"muted\": %s, \"status\": %d, \"killed\": %d, "
               "\"program\": \"%s\", "
               "\"stack\": [",
               reached_ ? "true" : "false", hung_ ? "true" : "false", muted_ ? "true" : "false",
               WIFSIGNALED(root_status_) ? -WTERMSIG(root_status_) : WEXITSTATUS(root_status_),
               killed_, program_.c_str());
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    std::fprintf(arguments_.result, "%s\"%s\"", i == 0 ? "" : ", ", stack_[i].c_str());
  }
  std::fprintf(arguments_.result, "], \"pids\": [%d", root_);
  for (const pid_t pid : pids_) std::fprintf(arguments_.result, ", %d", pid);
  std::fprintf(arguments_.result, "]}\n");
}

int Tracer::Run() {
  Start();
  struct sigaction action {};
  action.sa_handler = [](int) { g_late = 1; };
  sigaction(SIGALRM, &action, nullptr);
  alarm(arguments_.limit_s);
  for (;;) {
    int status = 0;
    const pid_t tid = waitpid(-1, &status, __WALL);
    if (g_late != 0 && !hung_) {
      hung_ = true;
      KillAll();
      alarm(2);  // then kills also what is started after this
    } else if (g_late != 0 && tid < 0) {
      KillAll();
      alarm(2);
    }
    if (tid < 0 && errno == EINTR) continue;
    if (tid < 0) break;
    if (WIFSTOPPED(status)) {
      OnStop(tid, status);
    } else {
      tasks_.erase(tid);
      early_.erase(tid);
      if (tid == root_) root_status_ = status;
    }
  }
  Report();
  return hung_ ? kHung : 0;
}

}  // namespace failpoints
