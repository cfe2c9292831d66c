// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/request_report.h"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "analyzer/report/html_text.h"
#include "analyzer/words/format.h"
#include "analyzer/words/requests.h"

namespace penstock::analyzer {
namespace {

constexpr std::size_t kMostHosts = 4;
constexpr std::size_t kFewestForTail = 100;  // with fewer requests, no 99th percentile is given

// What a person reads: the first hosts, and how many more there are.
Statements SaidOfHosts(const Report& report) {
  Statements said;
  const std::size_t hosts = report.requests.size();
  for (std::size_t i = 0; i < std::min(kMostHosts, hosts); ++i) {
    said.push_back(RequestsSaid(report.requests[i]));
  }
  if (hosts > kMostHosts) said.push_back(Say<words::kMoreHosts>(Give<"more">(hosts - kMostHosts)));
  return said;
}

}  // namespace

Statement RequestsSaid(const HostRequests& host) {
  const bool answered = host.requests() > 0;
  const bool opened = host.connections() > 0;
  return Say<words::kRequestsOfHost>(
      GiveIf<"host">(!host.host.empty(), host.host), Give<"requests">(host.requests()),
      Give<"connections">(host.connections()), GiveIf<"median">(answered, host.first_byte.median),
      GiveIf<"p99">(host.requests() >= kFewestForTail, host.first_byte.p99),
      GiveIf<"first_byte">(answered, host.first_byte.sum),
      GiveIf<"connect">(opened, host.connect.median),
      GiveIf<"connecting">(opened, host.connect.sum));
}

std::string RequestsText(const Report& report) {
  std::string text;
  for (const Statement& said : SaidOfHosts(report)) {
    text += Labelled(text.empty() ? "requests" : "", English(said));
  }
  return text;
}

void WriteRequestsJson(const Report& report, JsonWriter& json) {
  json.Key("hosts").BeginArray();
  for (const HostRequests& host : report.requests) {
    json.BeginObject().Field("host", host.host);
    json.Field("requests", static_cast<std::uint64_t>(host.requests()));
    json.Field("connections", static_cast<std::uint64_t>(host.connections()));
    json.Field("first_byte_p50_s", host.first_byte.median);
    json.Field("first_byte_p99_s", host.first_byte.p99);
    json.Field("first_byte_s", host.first_byte.sum);
    json.Field("connect_p50_s", host.connect.median).Field("connect_s", host.connect.sum);
    json.Field("text", English(RequestsSaid(host))).EndObject();
  }
  json.EndArray();
}

std::string RequestsHtml(const Report& report, Language language) {
  if (report.requests.empty()) return "";
  std::string text;
  for (const Statement& said : SaidOfHosts(report)) {
    text += fmt::format("<li>{}</li>\n", Escaped(Render(said, language)));
  }
  return fmt::format("<h3>{}</h3>\n<ul>\n{}</ul>\n", Escaped(Word<words::kRequestsTitle>(language)),
                     text);
}

}  // namespace penstock::analyzer
