// SPDX-License-Identifier: Apache-2.0
//
// Requests over HTTP.
#pragma once

#include "analyzer/words/message.h"

namespace penstock::analyzer::words {

inline constexpr Message kRequestsOfHost{
    "requests.host",
    "[host?{host:text}|a host without a name]: {requests:count request} over {connections:count "
    "connection}[; the first byte comes after {median:duration}, 1 % take more than "
    "{p99:duration}, {first_byte:duration} in all][; opening a connection takes "
    "{connect:duration}, {connecting:duration} in all]",
    "[host?{host:text}|未知主机]：{requests:count} 个请求，{connections:count} 个连接[；首字节在 "
    "{median:duration} 后到达，1 % 的请求超过 {p99:duration}，合计 "
    "{first_byte:duration}][；建立一个连接需 {connect:duration}，合计 {connecting:duration}]。"};
inline constexpr Message kRequestsTitle{"requests.title", "Requests over HTTP", "HTTP 请求"};

}  // namespace penstock::analyzer::words
