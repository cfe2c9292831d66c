// SPDX-License-Identifier: Apache-2.0
//
// Stands where the agent would be preloaded; does nothing.
extern "C" int penstock_stub_agent_is_loaded;
int penstock_stub_agent_is_loaded = 1;
