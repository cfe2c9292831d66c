// SPDX-License-Identifier: Apache-2.0
//
// This library is preloaded instead of the agent and does nothing.
extern "C" int penstock_stub_agent_is_loaded;
int penstock_stub_agent_is_loaded = 1;
