// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "analyzer/doctor/doctor.h"
#include "analyzer/doctor/target.h"

namespace penstock::analyzer {
namespace {

namespace fs = std::filesystem;

class DoctorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "penstock-doctor-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "bin");
    input_.folder = root_ / "bin";
    input_.current = root_;
    input_.environment["PATH"] = (root_ / "bin").string() + ":/usr/bin:/bin";
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const fs::path& file, const std::string& text, bool executable) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
    if (executable) fs::permissions(root_ / file, fs::perms::owner_all);
  }
  // Copies a dynamically linked program of this machine.
  void CopyProgram(const fs::path& file) {
    fs::create_directories((root_ / file).parent_path());
    fs::copy_file("/proc/self/exe", root_ / file);
    fs::permissions(root_ / file, fs::perms::owner_all);
  }
  void AddAgent() {
    Write("lib/libpenstock_agent.so", "x", false);
    Write("lib/penstock_python/sitecustomize.py", "", false);
  }
  bool Has(const std::string& id, Health health) const {
    Checks checks;
    CheckAgent(input_, checks);
    CheckPreloads(input_, checks);
    CheckTarget(input_, checks);
    return std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
      return check.id == id && check.health == health;
    });
  }
  // The fact of the host check `id`, which looks at the files of this test; "": no such check.
  std::string HostFact(const std::string& id) const {
    Checks checks;
    CheckHost(checks, root_);
    for (const Check& check : checks) {
      if (check.id == id) return check.fact;
    }
    return {};
  }

  fs::path root_;
  DoctorInput input_;
};

TEST_F(DoctorTest, MissesTheAgent) {
  EXPECT_TRUE(Has("agent", Health::kBad));
  AddAgent();
  EXPECT_TRUE(Has("agent", Health::kOk));
}

TEST_F(DoctorTest, SaysThatACommandIsNotThere) {
  input_.command = {"no-such-program"};
  EXPECT_TRUE(Has("command", Health::kBad));
}

TEST_F(DoctorTest, SearchesAPathAsExecvpDoes) {
  Write("train", "#!/bin/sh\n", true);
  for (const char* path : {":/usr/bin", "/usr/bin:", "/usr/bin::/bin", ""}) {
    EXPECT_EQ(FindOnPath("train", {{"PATH", path}}, root_), root_ / "train") << path;
  }
  EXPECT_FALSE(FindOnPath("train", {{"PATH", "/usr/bin"}}, root_));
  EXPECT_TRUE(FindOnPath("sh", {}, root_));
}

TEST_F(DoctorTest, NamesTheProgramThatIsNotThere) {
  Write("bin/train", "#!/usr/bin/env no-such-program\n", true);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"env", "A=1", "no-such-program"}, {"train"}}) {
    const auto program = ResolveTarget(command, input_.environment, root_);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error(), "no-such-program");
  }
}

TEST_F(DoctorTest, FollowsScriptsAndLaunchers) {
  CopyProgram("bin/python3");
  Write("bin/train", "#!/usr/bin/env python3\n", true);
  const auto program =
      ResolveTarget({"nice", "-n", "5", "train", "--x"}, input_.environment, root_);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, root_ / "bin/python3");
  EXPECT_EQ(program->words.back(), "--x");
  EXPECT_FALSE(program->interpreter.empty());
}

// If the path of the interpreter becomes longer, patchelf appends it and the table of segments to
// the file.
TEST_F(DoctorTest, SeesAnInterpreterBehindTheFirstMegabyte) {
  std::ostringstream file;
  file << std::ifstream("/proc/self/exe", std::ios::binary).rdbuf();
  std::string bytes = file.str();
  Elf64_Ehdr header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  std::string segments = bytes.substr(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  bytes.resize(std::max<std::size_t>(bytes.size(), 2 << 20));
  const std::string interpreter = "/opt/lib/ld-linux.so.2";
  for (std::size_t at = 0; at < segments.size(); at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr segment{};
    std::memcpy(&segment, segments.data() + at, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    segment.p_offset = bytes.size();
    segment.p_filesz = interpreter.size() + 1;
    std::memcpy(segments.data() + at, &segment, sizeof segment);
  }
  bytes += interpreter + '\0';
  header.e_phoff = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  Write("bin/python3", bytes + segments, true);
  const auto program = ResolveTarget({"python3"}, input_.environment, root_);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->interpreter, interpreter);
}

TEST_F(DoctorTest, FollowsWordsThatEnvSplitsAndATaskset) {
  CopyProgram("bin/python3");
  Write("bin/train", "#!/usr/bin/env -S A=1 python3 -u\n", true);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train", "--x"},
        {"env", "-S", "python3 -u", "--x"},
        {"env", "-Spython3", "--x"},
        {"env", "-u", "B", "--split-string=python3 -u", "--x"},
        {"taskset", "-c", "0", "python3", "--x"},
        {"taskset", "1", "train", "--x"}}) {
    const auto program = ResolveTarget(command, input_.environment, root_);
    ASSERT_TRUE(program);
    EXPECT_EQ(program->path, root_ / "bin/python3") << command[0] << " " << command[1];
    EXPECT_EQ(program->words.back(), "--x");
  }
}

TEST_F(DoctorTest, TwoDashesEndTheOptionsOfALauncherOnly) {
  CopyProgram("bin/python3");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"timeout", "--", "10", "python3", "--x"},
        {"env", "--", "A=1", "python3", "--x"},
        {"taskset", "-c", "--", "0", "python3", "--x"},
        {"nice", "-n", "5", "--", "python3", "--x"}}) {
    const auto program = ResolveTarget(command, input_.environment, root_);
    ASSERT_TRUE(program) << command[0];
    EXPECT_EQ(program->path, root_ / "bin/python3") << command[0];
    EXPECT_EQ(program->words.back(), "--x");
  }
}

TEST_F(DoctorTest, LooksBehindPyenvShims) {
  CopyProgram(".pyenv/versions/3.11.7/bin/python3");
  Write(".pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec\n", true);
  Write(".pyenv/version", "3.11.7\n", false);
  input_.environment["PATH"] = (root_ / ".pyenv/shims").string() + ":/usr/bin:/bin";
  const auto program = ResolveTarget({"python3", "x.py"}, input_.environment, root_);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, root_ / ".pyenv/versions/3.11.7/bin/python3");
}

TEST_F(DoctorTest, APyenvVersionWithoutANameCountsAsNone) {
  CopyProgram(".pyenv/versions/3.11.7/bin/python3");
  Write(".pyenv/shims/python3", "#!/usr/bin/env bash\nexec pyenv exec\n", true);
  Write(".pyenv/version", "3.11.7\n", false);
  input_.environment["PATH"] = (root_ / ".pyenv/shims").string() + ":/usr/bin:/bin";
  input_.environment["PYENV_VERSION"] = ":";
  const auto program = ResolveTarget({"python3", "x.py"}, input_.environment, root_);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, root_ / ".pyenv/versions/3.11.7/bin/python3");
}

TEST_F(DoctorTest, AScriptThatCallsItselfEnds) {
  Write("bin/loop", "#!" + (root_ / "bin/loop").string() + "\n", true);
  EXPECT_TRUE(ResolveTarget({"loop"}, input_.environment, root_).has_value());
}

TEST_F(DoctorTest, WarnsOfIsolatedPython) {
  CopyProgram("bin/python3");
  input_.command = {"python3", "-uI", "train.py", "-E"};
  EXPECT_TRUE(Has("python-isolated", Health::kWarn));
  input_.command = {"python3", "train.py", "-I"};
  EXPECT_FALSE(Has("python-isolated", Health::kWarn));
}

TEST_F(DoctorTest, ValuesOfPythonsOptionsAreNoFlags) {
  CopyProgram("bin/python3");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"python3", "-mIPython", "train.py"},
        {"python3", "-cimport IPython"},
        {"python3", "-Wignore::ImportWarning", "train.py"},
        {"python3", "-W", "error::ImportWarning", "-XSILENT", "train.py"}}) {
    input_.command = command;
    EXPECT_FALSE(Has("python-isolated", Health::kWarn)) << command[1];
  }
  input_.command = {"python3", "-uW", "ignore", "-I", "train.py"};
  EXPECT_TRUE(Has("python-isolated", Health::kWarn));
}

TEST_F(DoctorTest, SeesThatTheEnvironmentIsCleaned) {
  CopyProgram("bin/python3");
  input_.command = {"env", "-i", "python3", "train.py"};
  EXPECT_TRUE(Has("environment", Health::kBad));
  input_.command = {"env", "A=1", "python3", "train.py"};
  EXPECT_FALSE(Has("environment", Health::kBad));
}

TEST_F(DoctorTest, SetsVariablesOfSudoApart) {
  CopyProgram("bin/python3");
  CopyProgram("bin/sudo");
  const auto program =
      ResolveTarget({"sudo", "-u", "ann", "A=1", "python3", "--x"}, input_.environment, root_);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, root_ / "bin/python3");
}

TEST_F(DoctorTest, ValuesOfALaunchersOptionsAreNoProgram) {
  CopyProgram("bin/python3");
  CopyProgram("bin/sudo");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"sudo", "-Hu", "ann", "python3", "--x"},
        {"sudo", "--user", "ann", "--group=ann", "python3", "--x"},
        {"env", "--unset", "B", "python3", "--x"},
        {"timeout", "--foreground", "--signal", "KILL", "-vk", "5", "10", "python3", "--x"},
        {"stdbuf", "-oL", "-e", "L", "python3", "--x"}}) {
    const auto program = ResolveTarget(command, input_.environment, root_);
    ASSERT_TRUE(program) << command[0] << " " << command[1] << ": " << program.error();
    EXPECT_EQ(program->path, root_ / "bin/python3") << command[0] << " " << command[1];
  }
}

TEST_F(DoctorTest, NamesTheProgramThatIsPrivileged) {
  CopyProgram("bin/python3");
  CopyProgram("bin/sudo");
  const fs::path sudo = root_ / "bin/sudo";
  if (chown(sudo.c_str(), 1, 1) != 0) GTEST_SKIP() << "only root may give files to other users";
  ASSERT_EQ(chmod(sudo.c_str(), 04755), 0);
  const auto program = ResolveTarget({"sudo", "python3"}, input_.environment, root_);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, root_ / "bin/python3");
  EXPECT_EQ(program->privileged, sudo);
  input_.command = {"python3", "train.py"};
  EXPECT_FALSE(Has("privileges", Health::kBad));
}

TEST_F(DoctorTest, IgnoresTheSetuidBitOfAScript) {
  CopyProgram("bin/python3");
  Write("bin/train", "#!/usr/bin/env python3\n", true);
  const fs::path train = root_ / "bin/train";
  if (chown(train.c_str(), 1, 1) != 0) GTEST_SKIP() << "only root may give files to other users";
  ASSERT_EQ(chmod(train.c_str(), 04755), 0);
  input_.command = {"train"};
  EXPECT_FALSE(Has("privileges", Health::kBad));
}

TEST_F(DoctorTest, ALoneDashOfEnvCleansTheEnvironment) {
  CopyProgram("bin/python3");
  input_.command = {"env", "-", "A=1", "python3", "train.py"};
  EXPECT_TRUE(Has("environment", Health::kBad));
  EXPECT_FALSE(Has("command", Health::kBad));
}

TEST_F(DoctorTest, KnowsWheelsByTheirMetadata) {
  CopyProgram("bin/python3");
  fs::create_directories(root_ / "lib/python3.11/site-packages/ffcv-1.0.2.dist-info");
  fs::create_directories(root_ / "lib/python3.11/site-packages/Pillow-10.2.0.dist-info");
  Checks checks;
  CheckPython(root_ / "bin/python3", checks);
  ASSERT_EQ(checks.size(), 3u);
  const auto warned = std::count_if(checks.begin(), checks.end(), [](const Check& check) {
    return check.health == Health::kWarn;
  });
  EXPECT_EQ(warned, 1);
}

// /bin is a link to /usr/bin. On a system without Python, neither path has packages.
TEST_F(DoctorTest, ThePackagesOfBinAreThoseOfUsrBin) {
  Checks bin;
  CheckPython("/bin/python3", bin);
  Checks usr;
  CheckPython("/usr/bin/python3", usr);
  ASSERT_EQ(bin.size(), usr.size());
  EXPECT_EQ(bin.front().health, usr.front().health);
}

TEST_F(DoctorTest, KnowsWheelsOfSeveralBuilds) {
  CopyProgram("bin/python3");
  const fs::path folder = root_ / "lib/python3.11/site-packages";
  for (const char* name :
       {"kvikio_cu12-26.4.0", "nvidia_nvimgcodec_cu12-0.5.0", "nvidia_dali_cuda120-1.40.0",
        "opencv_contrib_python_headless-4.10.0.84", "kvikiolike-1.0", "ffcv_pl-0.3.2"}) {
    fs::create_directories(folder / (std::string(name) + ".dist-info"));
  }
  Checks checks;
  CheckPython(root_ / "bin/python3", checks);
  EXPECT_EQ(checks.size(), 5u);  // Python, and four packages
}

TEST_F(DoctorTest, SeesTheLimitsOfVersionOneOfControlGroups) {
  const fs::path group = "sys/fs/cgroup";
  Write("proc/self/cgroup", "5:cpuset:/h\n4:cpu,cpuacct:/g\n3:memory:/g\n0::/\n", false);
  Write(group / "cpu,cpuacct/g/cpu.cfs_quota_us", "50000\n", false);
  Write(group / "cpu,cpuacct/g/cpu.cfs_period_us", "100000\n", false);
  Write(group / "memory/g/memory.limit_in_bytes", "1000000\n", false);
  EXPECT_NE(HostFact("cpu").find("0.5 by the cgroup quota"), std::string::npos);
  EXPECT_NE(HostFact("memory").find("1.00 MB allowed by the cgroup"), std::string::npos);
}

TEST_F(DoctorTest, OnlyLimitsOfReadsSlowReads) {
  Write("proc/self/cgroup", "0::/a/b\n", false);
  const fs::path file = "sys/fs/cgroup/a/b/io.max";
  Write(file, "8:0 rbps=max wbps=1048576 riops=max wiops=max\n", false);
  EXPECT_EQ(HostFact("io"), "");
  Write(file,
        "8:0 rbps=max wbps=1048576 riops=max wiops=max\n"
        "8:16 rbps=max wbps=max riops=120 wiops=max\n",
        false);
  EXPECT_NE(HostFact("io").find("8:16 rbps=max"), std::string::npos);
}

TEST_F(DoctorTest, SeesTheLimitOfReadsOfAGroupAbove) {
  Write("proc/self/cgroup", "0::/a/b\n", false);
  Write("sys/fs/cgroup/a/io.max", "8:0 rbps=1048576 wbps=max riops=max wiops=max\n", false);
  EXPECT_NE(HostFact("io").find("8:0 rbps=1048576"), std::string::npos);
}

TEST_F(DoctorTest, WarnsOfOtherToolsInThePreload) {
  input_.environment["LD_PRELOAD"] = "/opt/libdarshan.so:/usr/lib/libjemalloc.so.2";
  EXPECT_TRUE(Has("preload", Health::kWarn));
  input_.environment["LD_PRELOAD"] = "/usr/lib/libjemalloc.so.2";
  EXPECT_FALSE(Has("preload", Health::kWarn));
}

TEST_F(DoctorTest, TextAndJsonSayTheSame) {
  const Checks checks = RunDoctor(input_);
  EXPECT_FALSE(CanRecord(checks));
  EXPECT_NE(DoctorText(checks, false).find("bad"), std::string::npos);
  EXPECT_NE(DoctorJson(checks).find("\"can_record\": false"), std::string::npos);
}

TEST(DoctorGpuTest, ToolsInTheWayAreNamed) {
  const auto ids = [](std::map<std::string, std::string> environment) {
    DoctorInput input;
    input.environment = std::move(environment);
    Checks checks;
    CheckGpuTools(input, checks);
    std::string all;
    for (const Check& check : checks) {
      EXPECT_EQ(check.health, Health::kWarn);
      EXPECT_FALSE(check.remedy.empty());
      all += check.id + " ";
    }
    return all;
  };
  EXPECT_EQ(ids({}), "");
  EXPECT_EQ(ids({{"CUDA_INJECTION64_PATH", "/opt/tool.so"}}), "cuda-injection ");
  EXPECT_EQ(ids({{"NVTX_INJECTION64_PATH", "/usr/lib/libcupti.so"}}), "nvtx-injection ");
  EXPECT_EQ(ids({{"KINETO_USE_DAEMON", "1"}}), "kineto ");
  EXPECT_EQ(ids({{"CUDA_INJECTION64_PATH", "/x/libpenstock_agent.so"},
                 {"NVTX_INJECTION64_PATH", "/x/libpenstock_agent.so"}}),
            "");
}

}  // namespace
}  // namespace penstock::analyzer
