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

std::size_t HostsShown(const Report& report) {
  return std::min(kMostHosts, report.requests.size());
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
  for (std::size_t i = 0; i < HostsShown(report); ++i) {
    text += Labelled(i == 0 ? "requests" : "", English(RequestsSaid(report.requests[i])));
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
  for (std::size_t i = 0; i < HostsShown(report); ++i) {
    text +=
        fmt::format("<li>{}</li>\n", Escaped(Render(RequestsSaid(report.requests[i]), language)));
  }
  return fmt::format("<h3>{}</h3>\n<ul>\n{}</ul>\n", Escaped(Word<words::kRequestsTitle>(language)),
                     text);
}

}  // namespace penstock::analyzer
