// SPDX-License-Identifier: Apache-2.0
#include "traces/stand_ins.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::traces {
namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

TEST(StandInsTest, PathsKeepDepthAndExtensionAndEqualNamesAreEqual) {
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

TEST(StandInsTest, NamesOfTheProgramAreReplacedTheSameWhereverTheyAre) {
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

TEST(StandInsTest, CommandLinesKeepOptionsAndNumbers) {
  StandIns names;
  EXPECT_EQ(names.CommandLine("python3 '/home/ann/my train.py' --epochs 3 --data=/home/ann/cats "
                              "--name ann --lr 1e-3x -m torch.distributed.run USER=ann '***'"),
            "python3 /d1/d2/f1.py --epochs 3 --data=/d1/d2/f2 --name w1 --lr w2 -m "
            "torch.distributed.run USER=w1 '***'");
  EXPECT_EQ(names.CommandLine("python3 -c 'import secret; secret.run()'"), "python3 -c w3");
}

TEST(StandInsTest, SentencesLoseOnlyTheirPaths) {
  StandIns names;
  EXPECT_EQ(names.Sentence("12.4 /opt/ann/libcupti.so: at 3 MB/s"), "12.4 /d1/d2/f1.so: at 3 MB/s");
}

}  // namespace
}  // namespace penstock::traces
