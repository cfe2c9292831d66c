// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/pipeline/support.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace penstock::loader::test {

PipelineOptions Synthetic(unsigned workers, unsigned batch) {
  PipelineOptions options;
  options.workers = workers;
  options.batch = batch;
  options.read.on = false;
  options.decode.on = false;
  options.seed = 7;
  return options;
}

AugmentProgram Program(const char* ops) {
  const auto program = AugmentProgram::Parse(ops, ElementType::kU8, Layout::kChw);
  if (!program) std::abort();
  return *program;
}

Delivered RunAll(const Source& source, const PipelineOptions& options,
                 const AugmentProgram& program) {
  Delivered out;
  Digest digest;
  const std::unique_ptr<Tracer> tracer = NoTracer();
  auto pipeline = Pipeline::Start(source, program, options, *tracer);
  if (!pipeline) {
    out.error = pipeline.error().message;
    out.error_kind = pipeline.error().kind;
    return out;
  }
  for (;;) {
    Result<Batch> batch = (*pipeline)->Next();
    if (!batch) {
      out.error = batch.error().message;
      out.error_kind = batch.error().kind;
      break;
    }
    if (!*batch) break;
    digest.Add(*batch);
    out.ids.insert(out.ids.end(), batch->ids().begin(), batch->ids().end());
    out.labels.insert(out.labels.end(), batch->labels().begin(), batch->labels().end());
    out.sizes.push_back(batch->size());
    out.epochs.push_back(batch->epoch());
    out.resumes.push_back(batch->next());
  }
  (*pipeline)->Stop();
  out.stats = (*pipeline)->stats();
  out.digests.assign(digest.epochs().begin(), digest.epochs().end());
  return out;
}

void ExpectSame(const Delivered& a, const Delivered& b, const std::string& what) {
  EXPECT_EQ(a.error, b.error) << what;
  EXPECT_EQ(a.ids, b.ids) << what;
  EXPECT_EQ(a.labels, b.labels) << what;
  ASSERT_EQ(a.digests.size(), b.digests.size()) << what;
  for (std::size_t i = 0; i < a.digests.size(); ++i) {
    EXPECT_EQ(a.digests[i].ordered, b.digests[i].ordered) << what;
    EXPECT_EQ(a.digests[i].unordered, b.digests[i].unordered) << what;
    EXPECT_EQ(a.digests[i].samples, b.digests[i].samples) << what;
  }
}

}  // namespace penstock::loader::test
