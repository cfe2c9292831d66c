// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/chrome_event.h"

#include <array>

#include "traces/exchange/json_fields.h"

namespace penstock::traces {
namespace {

namespace json = simdjson::ondemand;

constexpr std::array<std::pair<std::string_view, std::string_view ChromeEvent::*>, 16> kArguments =
    {{{"name", &ChromeEvent::label},
      {"correlation", &ChromeEvent::correlation},
      {"device", &ChromeEvent::device},
      {"stream", &ChromeEvent::stream},
      {"bytes", &ChromeEvent::bytes},
      {"batch", &ChromeEvent::batch},
      {"epoch", &ChromeEvent::epoch},
      {"sample", &ChromeEvent::sample},
      {"file", &ChromeEvent::file},
      {"of", &ChromeEvent::of},
      {"role", &ChromeEvent::role},
      {"worker_id", &ChromeEvent::worker},
      {"rank", &ChromeEvent::rank},
      {"parent", &ChromeEvent::parent},
      {"unfinished", &ChromeEvent::unfinished},
      {"failed", &ChromeEvent::failed}}};

void Arguments(ChromeEvent& event, json::object arguments) {
  // Without a phase yet, the event may turn out to be a counter.
  const bool counter = event.phase == "C" || event.phase.empty();
  for (auto field : arguments) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    const json::json_type type = value.type();
    if (type == json::json_type::object && key == "facts") {
      for (auto fact : value.get_object()) {
        const std::string_view name = fact.unescaped_key();
        event.facts.emplace_back(name, Word(fact.value()));
      }
    }
    if (type == json::json_type::object || type == json::json_type::array) continue;
    // Read each value only once: its text goes into a buffer of the parser that has room for just
    // one copy.
    const std::string_view word = Word(value);
    if (counter || key == "value") event.values.emplace_back(key, word);
    for (const auto& [name, member] : kArguments) {
      if (key == name) event.*member = word;
    }
  }
}

void Field(ChromeEvent& event, std::string_view key, json::value value) {
  if (key == "ph")
    event.phase = Word(value);
  else if (key == "cat")
    event.category = Word(value);
  else if (key == "name")
    event.name = Word(value);
  else if (key == "pid")
    event.pid = Word(value);
  else if (key == "tid")
    event.tid = Word(value);
  else if (key == "id")
    event.id = Word(value);
  else if (key == "ts")
    event.start = Microseconds(Word(value));
  else if (key == "dur")
    event.duration = Microseconds(Word(value));
  else if (key == "tdur")
    event.cpu = Microseconds(Word(value));
  else if (key == "args" && value.type() == json::json_type::object)
    Arguments(event, value.get_object());
}

}  // namespace

ChromeEvent ReadChromeEvent(json::object event) {
  ChromeEvent read;
  for (auto field : event) Field(read, field.unescaped_key(), field.value());
  return read;
}

}  // namespace penstock::traces
