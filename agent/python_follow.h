// SPDX-License-Identifier: Apache-2.0
//
// The builtins through which the Python hooks follow calls (python_calls.h). The table in
// python_bridge.cc says what each takes and returns. All are called with the GIL held.
#pragma once

#include "agent/python_api.h"

namespace penstock::agent {

Function FollowBegin, FollowStop, FollowFact, FollowHot, FollowFinish, FollowForget;

// Callbacks for events of sys.monitoring.
Function MonitorFunction, MonitorReturn, MonitorBuiltin, MonitorBuiltinReturn, MonitorLine;

// Notes our own builtins, which are not followed themselves. To be called before any of them.
void NoteBuiltins(const MethodDef* methods, size_t count);

}  // namespace penstock::agent
