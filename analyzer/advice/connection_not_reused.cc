// SPDX-License-Identifier: Apache-2.0
//
// The processes that make the data open a new connection for nearly every object that they fetch
// over HTTP. Opening one takes a round trip, up to two more with TLS, and starts with a small
// window.
//
// Threshold: connections for four fifths of the requests, at least 64 requests (ours), and opening
// takes 5 % of the time that threads spend on data.
// Prediction: reads without the time in which connections were opened, since a read does nothing
// else before its answer comes. Nothing is predicted if that time exceeds the time of the reads,
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

}  // namespace

void ConnectionNotReused(const RuleInput& input, Advice& out) {
  constexpr double kFewest = 64;
  constexpr double kMost = 0.8;
  constexpr double kShare = 0.05;
  if (!input.diagnosis.loader) return;
  const HttpCalls calls = CallsForData(input);
  if (calls.requests < kFewest || calls.connections < kMost * calls.requests) return;
  const StageTable& stages = input.diagnosis.run.stages;
  const double time = stages.DataTime();
  const double share = time > 0 ? calls.connecting / time : 0;
  if (share < kShare) return;
  const double reading = Seconds(stages[traces::StageId::kRead].wall);
  Finding finding;
  finding.id = "connection-not-reused";
  finding.severity = Severity::kInfo;
  if (reading >= calls.connecting) {
    finding.predicted = input.WithScaled(Factor::kRead, 1 - calls.connecting / reading);
    if (finding.predicted->speedup >= 1.05) finding.severity = Severity::kWarning;
  }
  const double each = calls.connecting / calls.connections;
  finding.seen = Say<words::kConnectionsAnew>(Give<"connections">(calls.connections),
                                              Give<"requests">(calls.requests), Give<"each">(each));
  finding.evidence = {{"connections", calls.connections},
                      {"requests", calls.requests},
                      {"threshold", kMost},
                      {"seconds_to_connect", each},
                      {"seconds_to_first_byte", calls.first_bytes / calls.requests},
                      {"share_of_data_time", share}};
  finding.action = Say<words::kReuseConnections>();
  out.findings.push_back(std::move(finding));
}

}  // namespace penstock::analyzer
