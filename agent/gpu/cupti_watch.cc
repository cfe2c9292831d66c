// SPDX-License-Identifier: Apache-2.0

#include "agent/gpu/cupti_watch.h"

#include "agent/system/strings.h"

namespace penstock::agent::cupti {
namespace {

constexpr uint64_t kFewCalls = 8;       // fewer calls prove nothing: the first is not recorded
constexpr uint32_t kLooks = 8;          // two seconds, with a flush every 250 ms
constexpr uint32_t kPatientLooks = 40;  // ten seconds, where a busy device may be the reason

}  // namespace

void RecordsWatch::Update(Silence& silence, uint64_t calls, uint64_t came, double seconds) {
  if (came != silence.came) {
    silence = {came, calls, calls, 0, seconds};
    return;
  }
  silence.looks += calls != silence.calls_by_now ? 1u : 0u;
  silence.calls_by_now = calls;
}

// Whether missing records can only mean that CUPTI does not give them to the agent. True if enough
// calls came without a record, and either the flush was forced, or this has lasted kLooks looks and
// the calls are more than fit into the buffers that CUPTI holds.
bool RecordsWatch::IsSure(const Silence& silence, const Seen& seen, bool last) {
  const uint64_t calls = silence.calls_by_now - silence.calls_by_then;
  return calls >= kFewCalls &&
         (last || (silence.looks >= kLooks && calls > seen.out * seen.capacity));
}

void RecordsWatch::Tell(const char* before, double seconds, const char* after) {
  Text text{reason_, sizeof reason_};
  text.Add(before).Number(static_cast<uint64_t>(seconds)).Add(" s").Add(after);
  changed_ = true;
}

void RecordsWatch::Look(const Seen& seen, double seconds, bool last) {
  changed_ = false;
  Update(records_, seen.calls, seen.records + seen.lost, seconds);
  Update(copies_, seen.copies, seen.copied + seen.lost, seconds);
  if (sure_) {
    return;
  }
  const bool none = IsSure(records_, seen, last);
  if (none || (copies_.came != 0 && IsSure(copies_, seen, last))) {
    sure_ = true;
    if (none && records_.came == 0) {
      Tell(seen.out != 0 ? "another client of CUPTI took over its buffers: no records in "
                         : "CUPTI gave no records of the program's calls in ",
           seconds, "");
    } else if (none) {
      Tell("another tool has taken CUPTI's records after ", records_.since, "");
    } else {
      Tell("another tool has taken CUPTI's records of copies after ", copies_.since, "");
    }
  } else if (records_.looks >= kPatientLooks && reason_[0] == 0) {
    Tell("no records of CUPTI since ", records_.since,
         ": the device is never idle, or another tool has taken them");
  } else if (records_.looks == 0 && reason_[0] != 0) {
    reason_[0] = 0;  // records came again: the device had been busy
    changed_ = true;
  }
}

}  // namespace penstock::agent::cupti
