// Answers the commands of the conformance run, one JSON line each, with this client.
#include <iostream>
#include <utility>

#include "rules.hpp"
#include "system.hpp"

using namespace latchkey;

namespace {

const Json::Array supported = {"open",     "clock",      "state",      "activate",        "trial",          "check",
                               "machines", "move_here",  "deactivate", "offline_request", "accept_offline", "explain",
                               "verify",   "key",        "clock_steps", "fingerprint",    "close"};

/// What the commands share.
struct Driver {
  /// The clock of the device; nothing is that of the system.
  std::optional<std::int64_t> now_ms;
  Json::Array problems;
  std::unique_ptr<Latchkey> latchkey;
};

std::string text_of(const Json& fields, std::string_view name) { return fields[name].text().value_or(""); }

std::vector<std::string> texts_of(const Json& fields, std::string_view name) {
  std::vector<std::string> texts;
  if (const auto* list = fields[name].array()) {
    for (const auto& each : *list) texts.push_back(each.text().value_or(""));
  }
  return texts;
}

Json render_state(const State& state) {
  Json::Array features(state.features.begin(), state.features.end());
  return Json::Object{{"may_run", state.may_run},
                      {"kind", std::string(to_string(state.kind))},
                      {"reason", state.reason},
                      {"tier", state.tier},
                      {"features", features},
                      {"until", state.until},
                      {"days_left", state.days_left ? Json(*state.days_left) : Json()},
                      {"source", state.is_answered ? "service" : "kept"},
                      {"last_answer_at", state.last_answer_at},
                      {"clock_went_back", state.clock_went_back}};
}

Json render_failure(const std::optional<Failure>& failure) {
  Json result = Json::Object{{"ok", !failure}};
  if (!failure) return result;
  result.set("code", failure->code);
  if (failure->cause) result.set("cause", std::string(to_string(*failure->cause)));
  if (failure->max) result.set("max", *failure->max);
  if (failure->current) result.set("current", *failure->current);
  if (failure->available_at) result.set("available_at", *failure->available_at);
  return result;
}

Json with_state(Driver& driver, Json answer) {
  answer.set("state", render_state(driver.latchkey->state()));
  if (!driver.problems.empty()) answer.set("problems", std::exchange(driver.problems, {}));
  return answer;
}

Json open(Driver& driver, const Json& fields) {
  driver.now_ms = fields["now_ms"].integer();
  Options options;
  options.service = text_of(fields, "service");
  options.issuer = text_of(fields, "issuer");
  options.products = texts_of(fields, "products");
  options.public_keys = read_public_keys(fields["public_keys"]);
  options.folder = text_of(fields, "folder");
  options.app_version = text_of(fields, "app_version");
  options.timeout = std::chrono::milliseconds(fields["timeout_ms"].integer().value_or(10'000));
  if (const auto* machine = fields["machine"].object()) {
    for (const auto& [name, value] : *machine) options.machine[name] = value.text().value_or("");
    options.os_version = fields["machine"]["os_version"].text();
  }
  options.now = [&driver] { return driver.now_ms.value_or(system_ms()); };
  options.on_problem = [&driver](const Problem& problem) {
    std::cerr << problem.code << ": " << problem.message << "\n";
    const bool is_reported = problem.code == "file_damaged" || problem.code == "folder_unwritable";
    if (is_reported) driver.problems.emplace_back(problem.code);
  };
  driver.latchkey = std::make_unique<Latchkey>(options);
  return with_state(driver, Json::Object{});
}

Trigger find_trigger(const std::string& name) {
  for (const auto each : {Trigger::startup, Trigger::scheduled, Trigger::foreground, Trigger::wake, Trigger::reconnect}) {
    if (to_string(each) == name) return each;
  }
  return Trigger::manual;
}

Json list_machines(Latchkey& latchkey) {
  const auto listed = latchkey.machines();
  auto result = render_failure(listed.failure);
  Json::Array machines;
  for (const auto& each : listed.value) {
    machines.push_back(
        Json::Object{{"activation_id", each.activation_id}, {"is_active", each.is_active}, {"is_this", each.is_this}});
  }
  if (listed) result.set("machines", machines);
  return result;
}

Json request_offline(Latchkey& latchkey, const Json& fields) {
  const auto request = latchkey.offline_request(text_of(fields, "product"), fields["name"].text());
  auto result = render_failure(request.failure);
  if (request) result.set("request", request.value);
  return result;
}

/// Makes a call of an open client; nothing if there is no such call.
std::optional<Json> call(Latchkey& latchkey, const std::string& name, const Json& fields) {
  if (name == "activate") return render_failure(latchkey.activate(text_of(fields, "key")).failure);
  if (name == "trial") return render_failure(latchkey.start_trial().failure);
  if (name == "check") return render_failure(latchkey.check(find_trigger(text_of(fields, "trigger"))).failure);
  if (name == "machines") return list_machines(latchkey);
  if (name == "move_here") return render_failure(latchkey.move_here(text_of(fields, "activation_id")).failure);
  if (name == "deactivate") return render_failure(latchkey.deactivate().failure);
  if (name == "offline_request") return request_offline(latchkey, fields);
  if (name == "accept_offline") return render_failure(latchkey.accept_offline(text_of(fields, "text")).failure);
  return std::nullopt;
}

Json verify(const Json& fields) {
  const Trust trust{read_public_keys(fields["public_keys"]), text_of(fields, "issuer"), texts_of(fields, "products"),
                    text_of(fields, "machine_id")};
  auto [claims, verdict] = read_token(text_of(fields, "token"), trust);
  if (claims) {
    const auto nonce = fields["nonce"].text();
    const auto problem = find_time_problem(*claims, fields["now_ms"].integer().value_or(0));
    verdict = problem ? *problem : nonce && claims->nonce != nonce ? "nonce" : "ok";
  }
  return Json::Object{{"verdict", verdict}};
}

Json read_typed_key(const Json& fields) {
  const auto [verdict, key] = read_key(text_of(fields, "text"));
  if (verdict == KeyVerdict::mistyped) return Json::Object{{"verdict", "mistyped"}, {"key", nullptr}};
  return Json::Object{{"verdict", verdict == KeyVerdict::ok ? "ok" : "foreign"}, {"key", key}};
}

/// Computes the clock from an empty state.
Json step_clock(const Json& fields) {
  Clock clock;
  Json::Array readings;
  if (const auto* steps = fields["steps"].array()) {
    for (const auto& step : *steps) {
      const auto device_ms = step["device_ms"].integer().value_or(0);
      if (const auto service_ms = step["service_ms"].integer()) clock = clock.learn(device_ms, *service_ms);
      readings.push_back(
          Json::Object{{"now_ms", clock.now_ms(device_ms)}, {"clock_went_back", clock.went_back(device_ms)}});
    }
  }
  return Json::Object{{"steps", readings}};
}

Json read_printed(const Json& fields) {
  const auto source = text_of(fields, "source");
  const auto printed = text_of(fields, "text");
  std::optional<std::string> id;
  if (source == "machine-id") id = read_machine_id_file(printed);
  if (source == "reg.exe") id = read_registry_output(printed);
  if (source == "ioreg") id = read_ioreg_output(printed);
  return Json::Object{{"machine_id", id}};
}

Json answer(Driver& driver, const std::string& name, const Json& fields) {
  if (name == "hello") {
    return Json::Object{{"client", "cpp"}, {"version", std::string(version)}, {"supports", supported}};
  }
  if (name == "verify") return verify(fields);
  if (name == "key") return read_typed_key(fields);
  if (name == "clock_steps") return step_clock(fields);
  if (name == "fingerprint") return read_printed(fields);
  if (name == "open") return open(driver, fields);
  if (name == "close") return Json::Object{};
  if (!driver.latchkey) return Json::Object{{"unsupported", true}};
  if (name == "explain") return Json::Object{{"text", driver.latchkey->explain()}};
  if (name == "clock") driver.now_ms = fields["now_ms"].integer();
  if (name == "clock" || name == "state") return with_state(driver, Json::Object{});
  const auto result = call(*driver.latchkey, name, fields);
  return result ? with_state(driver, Json::Object{{"result", *result}}) : Json(Json::Object{{"unsupported", true}});
}

}  // namespace

int main() {
  Driver driver;
  for (std::string line; std::getline(std::cin, line);) {
    const auto command = Json::parse(line).value_or(Json());
    const auto name = text_of(command, "do");
    std::cout << answer(driver, name, command).dump() << std::endl;
    if (name == "close") break;
  }
}
