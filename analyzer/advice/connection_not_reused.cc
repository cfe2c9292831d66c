// SPDX-License-Identifier: Apache-2.0
//
// The processes that make the data open a new connection for nearly every object that they fetch
// over HTTP. To open a connection takes a round trip, and up to two more with TLS. Each connection
// also starts with a small congestion window.
//
// Threshold: connections for four fifths of the requests, at least 64 requests (ours), and opening
// takes 5 % of the time that threads spend on data.
// Prediction: reads without the time in which connections were opened. A read does nothing else
// while its connection is opened. Nothing is predicted if opening took more time than all reads,
// for example because connections were opened in parallel.
#include "analyzer/advice/rules.h"
#include "analyzer/model/requests.h"
#include "analyzer/words/findings_data.h"

namespace penstock::analyzer {
namespace {

struct HttpCalls {
  double connections = 0;
  double connecting = 0;  // seconds
  double requests = 0;
  double first_bytes = 0;  // seconds
};

HttpCalls CallsForData(const RuleInput& input) {
  HttpCalls calls;
  for (const HostRequests& host : FindRequests(input.diagnosis.run)) {
    calls.connections += static_cast<double>(host.connections());
    calls.connecting += host.connect.sum;
    calls.requests += static_cast<double>(host.requests());
    calls.first_bytes += host.first_byte.sum;
  }
  return calls;
}

// Wall seconds of fetches and of reads, in the processes whose requests are counted.
struct DataTime {
  double fetching = 0;
  double reading = 0;
};

bool MadeByTrainingProcess(const LoaderConfig& config) {
  return config.num_workers == 0 || config.sample_tasks;
}

// Requests are counted for one rank only, so this adds up the fetches of that rank. The stages of
// the run hold the time of all ranks; they are used only if no fetch was recorded.
DataTime TimeOnData(const RunModel& run) {
  const LoaderRun& main = run.loader();
  DataTime time{0, main.threads_stages.read};
  for (const LoaderRun& loader : run.loaders) {
    const bool beside = loader.config.consumer == main.config.consumer &&
                        MadeByTrainingProcess(loader.config) && MadeByTrainingProcess(main.config);
    if (&loader != &main && !beside) continue;
    for (const Batch& batch : loader.batches) {
      time.fetching += batch.fetch.wall;
      time.reading += batch.read.wall;
    }
  }
  if (time.fetching > 0) return time;
  return {run.stages.DataTime(), Seconds(run.stages[traces::StageId::kRead].wall)};
}

}  // namespace

void ConnectionNotReused(const RuleInput& input, Advice& out) {
  constexpr double kFewest = 64;
  constexpr double kNearlyAll = 0.8;  // of the requests
  constexpr double kShare = 0.05;
  if (!input.diagnosis.loader) return;
  const HttpCalls calls = CallsForData(input);
  if (calls.requests < kFewest || calls.connections < kNearlyAll * calls.requests) return;
  const DataTime time = TimeOnData(input.diagnosis.run);
  const double share = time.fetching > 0 ? calls.connecting / time.fetching : 0;
  if (share < kShare) return;
  Finding finding;
  finding.id = "connection-not-reused";
  finding.severity = Severity::kInfo;
  if (time.reading >= calls.connecting) {
    finding.predicted = input.WithScaled(Factor::kRead, 1 - calls.connecting / time.reading);
    if (finding.predicted->speedup >= 1.05) finding.severity = Severity::kWarning;
  }
  const double each = calls.connecting / calls.connections;
  finding.seen = Say<words::kConnectionsAnew>(Give<"connections">(calls.connections),
                                              Give<"requests">(calls.requests), Give<"each">(each));
  finding.evidence = {{"connections", calls.connections},
                      {"requests", calls.requests},
                      {"threshold", kNearlyAll},
                      {"seconds_to_connect", each},
                      {"seconds_to_first_byte", calls.first_bytes / calls.requests},
                      {"share_of_data_time", share}};
  finding.action = Say<words::kReuseConnections>(Give<"predicted">(true));
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
