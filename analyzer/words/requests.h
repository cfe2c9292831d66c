// SPDX-License-Identifier: Apache-2.0
//
// Requests over HTTP.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kRequestsOfHost{
    "requests.host",
    "[host?{host:text}|a host without a name]: {requests:count request} over {connections:count "
    "connection}[; the first byte comes after {median:duration} (median[; 99 % of them within "
    "{p99:duration}]), {first_byte:duration} in all][; opening a connection takes "
    "{connect:duration} (median), {connecting:duration} in all]",
    "[host?{host:text}|未知主机]：{requests:count} 个请求，{connections:count} 个连接[；首字节在 "
    "{median:duration} 后到达（中位数[；99 % 在 {p99:duration} 以内]），合计 "
    "{first_byte:duration}][；建立一个连接需 {connect:duration}（中位数），合计 "
    "{connecting:duration}]。"};
inline constexpr Message kMoreHosts{"requests.more", "{more:count more host}",
                                    "另有 {more:count} 台主机。"};
inline constexpr Message kRequestsTitle{"requests.title", "Requests over HTTP", "HTTP 请求"};

}  // namespace penstock::analyzer::words
