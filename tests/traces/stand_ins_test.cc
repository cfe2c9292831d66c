// SPDX-License-Identifier: Apache-2.0
#include "traces/stand_ins.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::traces {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

TEST(StandInsTest, PathsKeepDepthAndExtensionAndEqualNamesGetEqualStandIns) {
  StandIns names;
  for (const auto& [path, expected] :
       Cases{{"/home/ann/cats/17.jpg", "/d1/d2/d3/f1.jpg"},
             {"/home/ann/dogs/17.jpg", "/d1/d2/d4/f1.jpg"},
             {"/home/ann/cats/shard.tar.gz", "/d1/d2/d3/f2.tar.gz"},
             {"/home/ann/cats/photo.ann", "/d1/d2/d3/f3"},
             {"cats/17.jpg:88", "d3/f1.jpg:88"},
             {"s3://ann-bucket/cats/17.jpg?X-Signature=abc", "s3://host1/d3/f1.jpg"},
             {"/dev/shm/ann.npy", "/dev/shm/f4.npy"},
             {"/home/ann/.venv/bin/python3.11", "/d1/d2/d5/d6/python3.11"},
             {"/proc/cpuinfo", "/proc/cpuinfo"},
             {"socket:[123]", "socket:[123]"},
             {"<frozen os>", "<frozen os>"},
             {"", ""}}) {
    EXPECT_EQ(names.Path(path), expected);
  }
  EXPECT_EQ(names.Folder("/home/ann/cats"), "/d1/d2/d3");
}

TEST(StandInsTest, PathsOfPublicLibrariesKeepTheirEnd) {
  StandIns names;
  for (const auto& [path, expected] :
       Cases{{"/home/ann/.venv/lib/python3.11/site-packages/torch/nn/modules/linear.py",
              "/d1/d2/d3/lib/python3.11/site-packages/torch/nn/modules/linear.py"},
             {"/home/ann/.venv/lib/python3.11/json/decoder.py",
              "/d1/d2/d3/lib/python3.11/json/decoder.py"},
             {"/home/ann/.venv/lib/python3.11/site-packages/acme/train.py",
              "/d1/d2/d3/lib/python3.11/site-packages/d4/f1.py"},
             {"/usr/lib/python3/dist-packages/PIL/Image.py",
              "/usr/lib/python3/dist-packages/PIL/Image.py"},
             {"/usr/lib/x86_64-linux-gnu/libjpeg.so.62", "/usr/lib/x86_64-linux-gnu/libjpeg.so.62"},
             {"/usr/lib/python3/dist-packages/acme/Image.py",
              "/usr/lib/python3/dist-packages/d4/f2.py"}}) {
    EXPECT_EQ(names.Path(path), expected);
  }
}

TEST(StandInsTest, NamesOfLibrariesStay) {
  StandIns names;
  for (const std::string name :
       {"PIL.open", "torch.nn.Linear", "RandomResizedCrop", "posix", "png header", "to:cuda",
        "cudaMemcpyAsync: H2D pageable", "GPU 0 stream 7", "cv::resize", "index_queue.get",
        "_MultiProcessingDataLoaderIter", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        "[DALI][CPU op] Run RandomResizedCrop", "wait for the device",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >"}) {
    EXPECT_EQ(names.Name(name), name);
  }
  EXPECT_EQ(names.Builtin("json.loads"), "json.loads");
  EXPECT_EQ(names.Builtin("list.append"), "list.append");
  EXPECT_EQ(names.counts().uses, 0U);
}

TEST(StandInsTest, APathThatClimbsOutOfAPublicFolderKeepsNothingBehindIt) {
  for (const char* path :
       {"/usr/lib/../../srv/ann/acme.jpg", "/opt/lib/python3.11/../../acme/ann.jpg",
        "/v/site-packages/numpy/../../acme/ann.jpg"}) {
    StandIns names;
    const std::string seen = names.Path(path);
    EXPECT_EQ(seen.find("ann"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("acme"), std::string::npos) << seen;
    EXPECT_NE(seen.find(".."), std::string::npos) << seen;
  }
  StandIns names;
  EXPECT_EQ(names.Path("/usr/lib/x.so"), "/usr/lib/x.so");
}

TEST(StandInsTest, ANameOfTheProgramHasOneStandInWhereverItStands) {
  StandIns names;
  EXPECT_EQ(names.Name("AcmeCats"), "n1");
  EXPECT_EQ(names.Function("AcmeCats.__getitem__"), "n1.__getitem__");
  EXPECT_EQ(names.Function("main.<locals>.<lambda>"), "n2.<locals>.<lambda>");
  EXPECT_EQ(names.Function("load"), "n3") << "also if a library has a function of that name";
  EXPECT_EQ(names.Name("Thread-1 (load)"), "Thread-1 (n3)");
  EXPECT_EQ(names.Name("acme::Kernel<at::Tensor>"), "n4::n5<at::Tensor>");
  EXPECT_EQ(names.Name("训练"), "n6");
  EXPECT_EQ(names.counts().names, 6U);
}

// An analysis tells from it that a process runs the code of another one.
TEST(StandInsTest, TheModuleThatStartsAWorkerStays) {
  StandIns names;
  EXPECT_EQ(names.CommandLine("python3 -c 'from multiprocessing.spawn import spawn_main; "
                              "spawn_main(tracker_fd=6, pipe_handle=12)' --multiprocessing-fork"),
            "python3 -c multiprocessing.spawn --multiprocessing-fork");
  EXPECT_NE(names.CommandLine("python3 -m joblib.externals.loky.backend.popen_loky_posix")
                .find("popen_loky"),
            std::string::npos);
}

TEST(StandInsTest, CommandLinesKeepOptionsAndNumbers) {
  StandIns names;
  EXPECT_EQ(names.CommandLine("python3 '/home/ann/my train.py' --epochs 3 --data=/home/ann/cats "
                              "--name ann --lr 1e-3x -m torch.distributed.run USER=ann '***'"),
            "python3 /d1/d2/f1.py --epochs 3 --data=/d1/d2/f2 --name w1 --lr w2 -m "
            "torch.distributed.run USER=w1 '***'");
  EXPECT_EQ(names.CommandLine("python3 -c 'import secret; secret.run()'"), "python3 -c w3");
  EXPECT_EQ(
      names.CommandLine("env PYTHONPATH=/opt/lib/python3.11:/home/ann --at /usr/lib/x,/ann/y"),
      "env PYTHONPATH=w4 --at w5");
  EXPECT_EQ(names.Word("/usr/lib/python3.11/json/decoder.py:88"),
            "/usr/lib/python3.11/json/decoder.py:88");
}

TEST(StandInsTest, SentencesLoseOnlyTheirPaths) {
  StandIns names;
  EXPECT_EQ(names.Sentence("12.4 /opt/ann/libcupti.so: at 3 MB/s"), "12.4 /d1/d2/f1.so: at 3 MB/s");
}

TEST(StandInsTest, OfAUrlOnlyTheSchemeStays) {
  StandIns names;
  for (const auto& [word, expected] :
       Cases{{"import acme; acme.load('s3://bucket/x')", "w1"},
             {R"({"user":"ann","url":"https://h/k"})", "w2"},
             {R"(--cfg={"user":"ann","url":"https://h/k"})", "--cfg=w2"},
             {"load(s3://bucket/x)", "w3"},
             {"ann s3://bucket/x", "w4"},
             {"/usr/bin/python -m acme", "w5"},
             {"/home/ann/.cache/s3://b/k", "/d1/d2/d3/d4//d5/f1"},
             {"ann@x/s3://b/k", "d6/d4//d5/f1"},
             {"--out=s3://ann/k", "--out=s3://host1/f1"},
             {"acme-store://ann:80/k", "w6://host1:80/f1"},
             {"s3://ann/dev/k", "s3://host1/d7/f1"},
             {"s3://ann/lib/k", "s3://host1/d8/f1"},
             {"file:///proc/cpuinfo", "file:///proc/cpuinfo"}}) {
    EXPECT_EQ(names.Word(word), expected);
  }
  EXPECT_EQ(names.Path("import acme; load('s3://b/k')"), "d9//d5/f2");
}

TEST(StandInsTest, AddressesOfTheNetworkAreHosts) {
  StandIns names;
  for (const auto& [word, expected] : Cases{{"--master_addr=10.12.0.5", "--master_addr=host1"},
                                            {"10.12.0.5:29400", "host1:29400"},
                                            {"10.12.0.5,10.12.0.6:80", "host1,host2:80"},
                                            {"MASTER_ADDR=10.12.0.6", "MASTER_ADDR=host2"},
                                            {"tcp://127.0.0.1:29400", "tcp://host3:29400"},
                                            {"http://127.0.0.1:80/x", "http://host3:80/f1"},
                                            {"fe80::1%eth0", "host4"},
                                            {"[fe80::7]:29400", "[host5]:29400"},
                                            {"2001:db8:0:1:2:3:4:5", "host6"},
                                            {"::ffff:10.12.0.5", "host7"},
                                            {"12:30:05", "12:30:05"},
                                            {"0,1-3", "0,1-3"},
                                            {"2.1.0", "2.1.0"}}) {
    EXPECT_EQ(names.Word(word), expected);
  }
  EXPECT_EQ(names.Name("wait for 10.12.0.5:80"), "wait for host1:80");
  EXPECT_EQ(names.Name("to fe80::7"), "to host5");
  EXPECT_EQ(names.Name("c10::Half"), "c10::Half");
  EXPECT_EQ(names.Sentence("no answer from 10.12.0.5:80."), "no answer from host1:80.");
}

TEST(StandInsTest, ANameWithAPublicBeginningIsReplacedBehindIt) {
  StandIns names;
  for (const auto& [name, expected] :
       Cases{{"cudaAnnMemcpyAsync", "cudan1MemcpyAsync"},
             {"nvtx_acme_load", "nvtx_n2_load"},
             {"triton_poi_fused_add_acme_relu_0", "triton_poi_fused_add_n2_relu_0"},
             {"triton_red_fused_native_layer_norm_3", "triton_red_fused_native_layer_norm_3"},
             {"hopper_ann_gemm", "hopper_n3_gemm"},
             {"ImageDecoderAcme", "ImageDecodern4"},
             {"ImageDecoder", "ImageDecoder"},
             {"sm80_xmma_gemm_f32f32_tn_n_tilesize64x64x8_stage3_ffma_kernel",
              "sm80_xmma_gemm_f32f32_tn_n_tilesize64x64x8_stage3_ffma_kernel"},
             {"_ZN2at4acmeE", "_ZN2atn5"},
             {"cudaGraphLaunch", "cudaGraphLaunch"},
             {"__acme__", "n6"}}) {
    EXPECT_EQ(names.Name(name), expected);
  }
  for (const auto& [word, expected] : Cases{{"cuda-annbox", "w1"},
                                            {"ncclann", "w2"},
                                            {"hopper_ann", "w3"},
                                            {"cudann", "w4"},
                                            {"cuda:0", "cuda:0"},
                                            {"nccl", "nccl"}}) {
    EXPECT_EQ(names.Word(word), expected);
  }
}

TEST(StandInsTest, BelowACommonNameOnlyKnownPartsStay) {
  StandIns names;
  for (const auto& [name, expected] : Cases{{"datasets.acme.load", "datasets.n1.load"},
                                            {"streaming.AnnSet.next", "streaming.n2.next"},
                                            {"DataLoader.acme", "DataLoader.n1"},
                                            {"at::acme::Kernel", "at::n1::Kernel"},
                                            {"cv::warpAffine", "cv::warpAffine"},
                                            {"av.to_ndarray", "av.to_ndarray"},
                                            {"parquet.read_row_group", "parquet.read_row_group"},
                                            {"ray.data.next", "ray.data.next"},
                                            {"torch.ops.acme.load_cats", "torch.ops.n1.n3"},
                                            {"torch.ops.aten.add", "torch.ops.aten.add"},
                                            {"torch.nn.Linear", "torch.nn.Linear"}}) {
    EXPECT_EQ(names.Name(name), expected);
  }
  EXPECT_EQ(names.Word("datasets.acme"), "datasets.n1");
  EXPECT_EQ(names.Word("yaml:ann"), "yaml:n4");
}

TEST(StandInsTest, ASentenceLosesAllOfAPathWithBlanks) {
  StandIns names;
  EXPECT_EQ(names.Sentence("in use by /opt/ann b/my acme/x.so, at 3 MB/s"),
            "in use by /d1/d2/d3/f1.so, at 3 MB/s");
  EXPECT_EQ(names.Sentence("'/opt/ann/x.so' (acme/y) [\"/opt/z\"]"),
            "'/d1/d4/f1.so' (d5/f2) [\"/d1/f3\"]");
  EXPECT_EQ(names.Sentence("/opt/x.so acme/cats"), "/d1/d6/f4");
  EXPECT_EQ(names.VersionAndPath("18 /opt/ann b/my tool"), "18 /d1/d2/f5");
  EXPECT_EQ(names.VersionAndPath("18 libcupti.so.12"), "18 f6");
}

TEST(StandInsTest, OnlyMarksOfTheInterpreterStay) {
  StandIns names;
  for (const std::string mark :
       {"<string>", "<stdin>", "<lambda>", "<listcomp>", "<frozen importlib._bootstrap>"}) {
    EXPECT_EQ(names.Path(mark), mark);
    EXPECT_EQ(names.Word(mark), mark);
  }
  EXPECT_EQ(names.Path("<ann's cell>"), "f1");
  EXPECT_EQ(names.Path("<frozen acme.load>"), "f2");
  EXPECT_EQ(names.Word("<ann>"), "w1");
  EXPECT_EQ(names.Function("f.<acme>"), "n1.<n2>");
}

TEST(StandInsTest, OnlyCountersOfOursKeepTheirNames) {
  StandIns names;
  for (const auto& [name, expected] :
       Cases{{"run_delay_ns", "run_delay_ns"},
             {"gpu.3.power_milliwatts", "gpu.3.power_milliwatts"},
             {"video.frames_used", "video.frames_used"},
             {"http.connect_ns@ann.example:8080", "http.connect_ns@host1:8080"},
             {"acmelab", "n1"},
             {"acmelab@ann.example", "n1@host1"}}) {
    EXPECT_EQ(names.Counter(name), expected);
  }
}

TEST(StandInsTest, FoldersThatPeopleNameAreReplacedAlsoInSystemFolders) {
  StandIns names;
  for (const auto& [path, expected] :
       Cases{{"/usr/local/lib/acme/load.so", "/usr/local/d1/d2/f1.so"},
             {"/usr/local/lib/libjpeg-ann.so.62", "/usr/local/d1/libjpeg.so"},
             {"/usr/local/lib/python3.11/dist-packages/torch/x.py",
              "/usr/local/lib/python3.11/dist-packages/torch/x.py"},
             {"/usr/local/lib/python3.11/dist-packages/acme/x.py",
              "/usr/local/lib/python3.11/dist-packages/d2/f2.py"},
             {"/proc/self/cwd/ann/x.jpg", "/proc/self/cwd/d3/f3.jpg"},
             // Split in two: the lint would take the whole path for a folder of this machine.
             {"/proc/7/root"
              "/home/ann",
              "/proc/7/root"
              "/d4/d3"},
             {"/proc/7/fd/3/ann.txt", "/proc/7/fd/3/f4.txt"},
             {"/dev/fd/3/ann.txt", "/dev/fd/3/f4.txt"},
             {"/dev/fd/3", "/dev/fd/3"},
             {"/proc/self/fd/3", "/proc/self/fd/3"},
             {"/proc/self/status", "/proc/self/status"},
             {"/dev/mapper/ann-data", "/dev/mapper/f5"},
             {"/dev/annvg/data", "/dev/d5/f6"},
             {"/dev/nvme0n1", "/dev/nvme0n1"},
             {"/dev/dri/card0", "/dev/dri/card0"},
             {"/sys/fs/cgroup/ann.slice/cpu.max", "/sys/fs/cgroup/d6/f7"},
             {"/sys/block/sda", "/sys/block/sda"}}) {
    EXPECT_EQ(names.Path(path), expected);
  }
}

}  // namespace
}  // namespace penstock::traces
