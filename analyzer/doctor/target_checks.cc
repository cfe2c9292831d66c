// SPDX-License-Identifier: Apache-2.0
//
// Checks of the agent, of other preloaded libraries, and of the program of the command line.
#include <unistd.h>

#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "analyzer/doctor/doctor.h"
#include "analyzer/doctor/target.h"

namespace penstock::analyzer {
namespace {

namespace fs = std::filesystem;

struct Neighbour {
  std::string_view part;
  std::string_view consequence;
  std::string_view remedy;
};
constexpr std::array kNeighbours = {
    Neighbour{"libasan", "it must come first: penstock record puts the agent behind it", ""},
    Neighbour{"libdarshan", "both intercept file reads, and each may miss some", "unload Darshan"},
    Neighbour{"librecorder", "both intercept file reads, and each may miss some",
              "take Recorder out of LD_PRELOAD"},
    Neighbour{"dftracer", "both intercept file reads, and each may miss some",
              "take DFTracer out of LD_PRELOAD; its traces can be imported instead"},
    Neighbour{"libscorep", "both wrap the same calls", "take Score-P out of LD_PRELOAD"},
};

void CheckPythonFlags(const Executable& program, Checks& checks) {
  for (std::size_t i = 1; i < program.words.size(); ++i) {
    const std::string& word = program.words[i];
    if (word.size() < 2 || word[0] != '-') break;  // the script; later words are its arguments
    if (word[1] == '-') continue;
    for (std::size_t k = 1; k < word.size(); ++k) {
      const char flag = word[k];
      if (flag == 'm' || flag == 'c') return;  // the rest is a module or code, then its arguments
      if (flag == 'X' || flag == 'W') {        // the value is the word's rest or the next word
        if (k + 1 == word.size()) ++i;
        break;
      }
      if (flag != 'I' && flag != 'E' && flag != 'S') continue;
      checks.push_back(
          {"python-isolated", Health::kWarn, fmt::format("Python is started with -{}", flag),
           "the hooks for loaders, transforms and OpenCV are not loaded: only reads and "
           "dynamically linked decoders are seen",
           fmt::format("leave out -{} while recording", flag)});
      return;
    }
  }
}

void CheckProgram(const Executable& program, const DoctorInput& input, Checks& checks) {
  Check check{"command", Health::kOk, fmt::format("the command runs {}", program.path.string()), "",
              ""};
  if (!program.elf) {
    check.health = Health::kWarn;
    check.fact += ", which is not a program, nor a script that doctor can follow";
    check.consequence = "the programs that it starts may still be recorded";
  } else if (!program.own_machine) {
    check.health = Health::kBad;
    check.fact += ", a program for another machine or word size";
    check.consequence = "the agent cannot be loaded into it";
    check.remedy = "use a 64-bit program of this machine";
  } else if (program.interpreter.empty()) {
    check.health = Health::kBad;
    check.fact += ", which is statically linked";
    check.consequence = "the agent cannot be loaded into it, only into what it starts";
    check.remedy = "link it dynamically";
  } else if (program.interpreter.find("musl") != std::string::npos) {
    check.health = Health::kBad;
    check.fact += ", which is linked with musl";
    check.consequence = "the agent needs glibc";
    check.remedy = "use an image that is based on glibc (Debian, Ubuntu, Rocky)";
  } else if (program.needs_asan &&
             Variable(input, "LD_PRELOAD").find("libasan") == std::string_view::npos) {
    check.health = Health::kBad;
    check.fact += ", which is built with AddressSanitizer";
    check.consequence = "it ends when another library is loaded before libasan.so";
    check.remedy = "LD_PRELOAD=$(gcc -print-file-name=libasan.so) penstock record ...";
  }
  checks.push_back(std::move(check));
  if (!program.privileged.empty()) {
    checks.push_back({"privileges", Health::kBad,
                      fmt::format("{} is setuid or has capabilities", program.privileged.string()),
                      "the loader keeps the agent out of it",
                      "record as the user it runs as, without the privileges"});
  }
  if (program.cleans_environment) {
    checks.push_back({"environment", Health::kBad,
                      fmt::format("{} removes LD_PRELOAD from the environment", program.cleaner),
                      "the agent does not get through",
                      fmt::format("put {} before penstock: {} penstock record -- ...",
                                  program.cleaner, program.cleaner)});
  }
  if (IsPython(program.path)) CheckPythonFlags(program, checks);
}

}  // namespace

void CheckAgent(const DoctorInput& input, Checks& checks) {
  std::error_code error;
  for (const fs::path& place :
       {input.folder / ".." / "lib" / kAgentLibrary, input.folder / kAgentLibrary,
        input.folder / ".." / "lib" / "penstock" / kAgentLibrary}) {
    if (!fs::exists(place, error)) continue;
    const std::string path = fs::weakly_canonical(place, error).string();
    if (path.find_first_of(" :") != std::string::npos) {
      checks.push_back(
          {"agent", Health::kOk, fmt::format("the agent is {}", path),
           "LD_PRELOAD allows no blank or colon in a path: penstock record uses a link to the "
           "agent; to preload it by hand, make such a link or move it to another folder",
           ""});
    } else {
      checks.push_back({"agent", Health::kOk, fmt::format("the agent is {}", path), "", ""});
    }
    const fs::path hooks = fs::path(path).parent_path() / "penstock_python" / "sitecustomize.py";
    if (!fs::exists(hooks, error)) {
      checks.push_back({"python-hooks", Health::kWarn, "penstock_python is not beside the agent",
                        "Python loaders, transforms and OpenCV are not seen",
                        "build or install Penstock as a whole"});
    }
    return;
  }
  checks.push_back(
      {"agent", Health::kBad,
       fmt::format("{} is not beside this program ({})", kAgentLibrary, input.folder.string()),
       "nothing can be recorded", "build the target penstock_agent"});
}

void CheckPreloads(const DoctorInput& input, Checks& checks) {
  const std::string_view preload = Variable(input, "LD_PRELOAD");
  for (const Neighbour& neighbour : kNeighbours) {
    if (preload.find(neighbour.part) == std::string_view::npos) continue;
    checks.push_back({"preload", Health::kWarn, fmt::format("LD_PRELOAD holds {}", neighbour.part),
                      std::string(neighbour.consequence), std::string(neighbour.remedy)});
  }
  for (const std::string_view allocator : {"jemalloc", "tcmalloc", "mimalloc"}) {
    if (preload.find(allocator) == std::string_view::npos) continue;
    checks.push_back({"preload", Health::kOk,
                      fmt::format("LD_PRELOAD holds {}: no conflict", allocator), "", ""});
  }
  if (!Variable(input, "DARSHAN_ENABLE_NONMPI").empty()) {
    checks.push_back({"preload", Health::kWarn, "DARSHAN_ENABLE_NONMPI is set",
                      "Darshan may intercept file reads too", "unset it while recording"});
  }
}

void CheckTarget(const DoctorInput& input, Checks& checks) {
  if (input.command.empty()) {
    const auto python = ResolveTarget({"python3"}, input.environment, input.current);
    if (python && python->elf) CheckPython(python->path, checks);
    return;
  }
  const auto program = ResolveTarget(input.command, input.environment, input.current);
  if (!program) {
    checks.push_back({"command", Health::kBad, fmt::format("{} is not found", program.error()),
                      "there is nothing to run", "check the name and PATH"});
    return;
  }
  CheckProgram(*program, input, checks);
  if (program->elf && IsPython(program->path)) CheckPython(program->path, checks);
}

}  // namespace penstock::analyzer
