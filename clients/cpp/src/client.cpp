#include "client.hpp"

#include <algorithm>

#include "kept.hpp"
#include "schedule.hpp"
#include "system.hpp"

namespace latchkey {
namespace {

const std::string licenses = "/api/v1/licenses";

/// More keys than a service publishes at once.
constexpr std::size_t max_keys = 20;

/// Escapes a part of a path (RFC 3986).
std::string escape(std::string_view part) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          std::string_view("-._~").find(c) != std::string_view::npos;
    result += is_plain ? std::string(1, c) : std::string{'%', digits[byte >> 4], digits[byte & 15]};
  }
  return result;
}

Json name_activation(const std::string& key, const std::string& id, const std::string& machine_id) {
  return Json::Object{{"license_key", key}, {"activation_id", id}, {"machine_id", machine_id}};
}

bool is_full(const std::optional<Failure>& failure) {
  return failure && (failure->code == "activation_limit_reached" || failure->code == "move_limit_reached");
}

double random_fraction() { return static_cast<unsigned char>(random_bytes()[0]) / 255.0; }

}  // namespace

struct Latchkey::Client::Grant {
  std::optional<NoResponse> rejection;
  std::string token;
  /// Those that were fetched for it.
  std::optional<Json> keys;
  Clock clock;
  std::string answered_at;

  void keep(Json& kept) const {
    if (keys) kept.set("keys", *keys);
    kept.set("clock", clock.write());
    kept.set("entitlement", token);
    kept.set("refused", nullptr);
    kept.set("last_answer_at", answered_at);
  }
};

struct Latchkey::Client::ListedMachine {
  Machine machine;
  std::string machine_id;
};

Failure refuse(std::string code) {
  Failure failure;
  failure.code = std::move(code);
  return failure;
}

Latchkey::Client::Client(Options options) : options_(std::move(options)) {
  load();
  // The first state is no change.
  memory_.shown = state();
}

std::int64_t Latchkey::Client::now_ms() const {
  try {
    return options_.now ? options_.now() : system_ms();
  } catch (...) {
    // A clock of the program that fails is replaced by that of the system.
    return system_ms();
  }
}

Json Latchkey::Client::kept() const {
  const std::lock_guard lock(memory_mutex_);
  return memory_.kept;
}

State Latchkey::Client::state() const {
  const auto device_ms = now_ms();
  const std::lock_guard lock(memory_mutex_);
  return derive_state(memory_.kept, memory_.claims, memory_.is_answered, device_ms);
}

void Latchkey::Client::add_listener(std::function<void(const State&)> listener) {
  const std::lock_guard lock(memory_mutex_);
  memory_.listeners.push_back(std::move(listener));
}

Failure Latchkey::Client::unexpected(const std::string& what) {
  report("unexpected", "a call failed: " + what);
  return refuse("unexpected");
}

void Latchkey::Client::report(std::string code, std::string message) {
  const Problem problem{std::move(code), std::move(message)};
  try {
    if (options_.on_problem) options_.on_problem(problem);
  } catch (...) {
    // A function of the program that fails does not end a call.
  }
  const std::lock_guard lock(memory_mutex_);
  memory_.problems.push_back(problem);
  if (memory_.problems.size() > 5) memory_.problems.pop_front();
}

void Latchkey::Client::notify() {
  const auto now = state();
  // The time of the last answer alone is no change.
  auto shown = now;
  shown.is_answered = false;
  shown.last_answer_at.reset();
  std::vector<std::function<void(const State&)>> listeners;
  {
    const std::lock_guard lock(memory_mutex_);
    auto& before = memory_.shown;
    before->is_answered = false;
    before->last_answer_at.reset();
    if (*before == shown) return;
    before = shown;
    listeners = memory_.listeners;
  }
  for (const auto& listener : listeners) {
    try {
      listener(now);
    } catch (...) {
      report("listener", "a listener threw an exception");
    }
  }
}

TokenReading Latchkey::Client::read_entitlement(std::string_view token, const Json& kept) const {
  // The first key of an id counts, so that no fetched one replaces one that is compiled in.
  Trust trust{options_.public_keys, options_.issuer, options_.products, own_machine_id(kept)};
  const auto fetched = read_public_keys(kept["keys"]);
  trust.keys.insert(trust.keys.end(), fetched.begin(), fetched.end());
  return read_token(token, trust);
}

Answer Latchkey::Client::ask(const std::string& path, const std::optional<Json>& body) {
  Request request;
  request.url = options_.service + path;
  if (body) request.body = body->dump();
  request.timeout = options_.timeout;
  request.is_cancelled = [this] { return is_closed_.load(); };
  return classify(options_.transport(request));
}

Result<Reply> Latchkey::Client::ask_for_success(const std::string& path, const std::optional<Json>& body) {
  const auto answer = ask(path, body);
  if (const auto* response = std::get_if<NoResponse>(&answer)) return report_no_answer(*response);
  const auto& reply = std::get<Reply>(answer);
  if (reply.code) return report_refusal(reply);
  return reply;
}

void Latchkey::Client::note_answer(std::optional<std::string> failure) {
  const std::lock_guard lock(memory_mutex_);
  memory_.is_answered = !failure;
  memory_.last_failure = std::move(failure);
}

Failure Latchkey::Client::report_no_answer(const NoResponse& response) {
  note_answer(std::string(to_string(response.cause)) + ": " + response.detail);
  auto failure = refuse("no_answer");
  failure.cause = response.cause;
  failure.retry_after = response.retry_after;
  return failure;
}

Failure Latchkey::Client::refuse_unactivated() const { return refuse(must_read_file_ ? "folder_unreadable" : "not_activated"); }

Failure Latchkey::Client::report_refusal(const Reply& reply) {
  note_answer();
  auto failure = refuse(reply.code.value_or(""));
  failure.max = reply.body["max"].integer();
  failure.current = reply.body["current"].integer();
  failure.available_at = reply.body["available_at"].text();
  return failure;
}

Json Latchkey::Client::fingerprint(const Json& kept) const {
  auto machine = kept["machine"];
  machine.set("app_version", options_.app_version);
  if (options_.os_version) machine.set("os_version", *options_.os_version);
  return machine;
}

Json Latchkey::Client::identity() const {
  const auto before = kept();
  Json body = Json::Object{{"machine_fingerprint", fingerprint(before)}};
  if (const auto install_id = before["install_id"].text()) body.set("install_id", *install_id);
  return body;
}

Result<> Latchkey::Client::activate(std::string_view typed) {
  const auto [verdict, key] = read_key(typed);
  if (verdict == KeyVerdict::mistyped || key.empty()) return refuse("key_mistyped");
  auto body = identity();
  body.set("license_key", key);
  const auto reply = ask_for_success(licenses + "/activate", body);
  const auto result = reply ? accept_activation(reply.value, key) : Result<>(*reply.failure);
  const std::lock_guard lock(memory_mutex_);
  if (result) memory_.refused_key.reset();
  if (is_full(result.failure)) memory_.refused_key = key;
  return result;
}

Result<> Latchkey::Client::start_trial() {
  if (state().kind == Kind::licensed) return refuse("already_licensed");
  const auto reply = ask_for_success("/api/v1/trial/start", identity());
  const auto result = reply ? accept_activation(reply.value, std::nullopt) : Result<>(*reply.failure);
  const auto before = kept();
  const bool is_wanted = result.failure && result.failure->cause && !before["key"].text();
  if (is_wanted != before["trial_wanted"].is_true()) change([&](Json& kept) { kept.set("trial_wanted", is_wanted); });
  return result;
}

/// @param key nothing: the answer contains it
Result<> Latchkey::Client::accept_activation(const Reply& reply, std::optional<std::string> key) {
  const auto& body = reply.body;
  const auto id = body["activation_id"].text();
  const auto token = body["entitlement"].text();
  if (!key && id && body.object()->count("entitlement") > 0 && body["entitlement"].is_null()) {
    note_answer();
    return refuse(body["status"].text() == "expired" ? "trial_expired" : "trial_unavailable");
  }
  if (!key) key = body["license_key"].text();
  if (!id || !token || !key) return report_no_answer(unexpected_shape());
  const auto grant = read_grant(reply, *token);
  if (grant.rejection) return report_no_answer(*grant.rejection);
  note_answer();
  change([&](Json& kept) {
    grant.keep(kept);
    kept.set("key", *key);
    kept.set("activation_id", *id);
    kept.set("request", nullptr);
    kept.set("trial_wanted", false);
    cancel_release(kept, id);
  });
  return {};
}

/// Verifies the entitlement of a positive answer: without a genuine one, it is no answer.
Latchkey::Client::Grant Latchkey::Client::read_grant(const Reply& reply, const std::string& token) {
  Grant grant;
  auto trusted = kept();
  auto reading = read_entitlement(token, trusted);
  if (reading.verdict == "unknown_key" && is_trustworthy(options_.service)) {
    grant.keys = fetch_keys();
    trusted.set("keys", *grant.keys);
    reading = read_entitlement(token, trusted);
  }
  auto verdict = reading.verdict;
  if (reading.claims) {
    const auto device_ms = now_ms();
    const auto service_ms = service_time(reply.date_ms, reading.claims->iat * 1000);
    grant.token = token;
    grant.clock = Clock::of(trusted).learn(device_ms, service_ms);
    grant.answered_at = format_time(service_ms);
    // With the new time, so that a machine whose clock stands in 1970 can be activated.
    verdict = find_time_problem(*reading.claims, grant.clock.now_ms(device_ms)).value_or("ok");
  }
  if (verdict != "ok") grant.rejection = NoResponse{Cause::portal, "the entitlement is not accepted: " + verdict, {}};
  return grant;
}

Json Latchkey::Client::fetch_keys() {
  Json::Array written;
  const auto answer = ask("/.well-known/jwks.json");
  const auto* reply = std::get_if<Reply>(&answer);
  if (reply == nullptr || reply->code) return written;
  auto keys = read_public_keys(reply->body["keys"]);
  keys.resize(std::min(keys.size(), max_keys));
  std::transform(keys.begin(), keys.end(), std::back_inserter(written), write_public_key);
  return written;
}

/// What waits for the service comes first: a machine to free, or a trial to start.
Result<> Latchkey::Client::check(Trigger trigger) {
  if (auto released = release(); !released) return released;
  const auto before = kept();
  const auto key = before["key"].text();
  const auto id = before["activation_id"].text();
  if (!key || !id) return before["trial_wanted"].is_true() ? start_trial() : refuse_unactivated();
  auto body = name_activation(*key, *id, own_machine_id(before));
  body.set("trigger", std::string(to_string(trigger)));
  if (const auto install_id = before["install_id"].text()) body.set("install_id", *install_id);
  if (const auto sharing = before["sharing"].boolean()) body.set("usage_sharing", *sharing);
  const auto answer = ask(licenses + "/validate", body);
  if (const auto* response = std::get_if<NoResponse>(&answer)) return report_no_answer(*response);
  const auto& reply = std::get<Reply>(answer);
  if (reply.code) return is_about_license(reply) ? accept_refusal(reply, *reply.code) : Result<>(report_refusal(reply));
  const auto token = reply.body["entitlement"].text();
  const auto reason = reply.body["reason"].text();
  if (reply.body["valid"].is_false() && reason) return accept_refusal(reply, *reason);
  if (!reply.body["valid"].is_true() || !token) return report_no_answer(unexpected_shape());
  const auto grant = read_grant(reply, *token);
  if (grant.rejection) return report_no_answer(*grant.rejection);
  note_answer();
  change([&](Json& kept) { grant.keep(kept); });
  return {};
}

Result<> Latchkey::Client::accept_refusal(const Reply& reply, const std::string& reason) {
  note_answer();
  const auto at = format_time(reply.date_ms.value_or(Clock::of(kept()).now_ms(now_ms())));
  change([&](Json& kept) {
    kept.set("refused", Json::Object{{"reason", reason}, {"at", at}});
    kept.set("last_answer_at", at);
  });
  return refuse(reason);
}

Result<> Latchkey::Client::deactivate() {
  const auto before = kept();
  const auto key = before["key"].text();
  const auto id = before["activation_id"].text();
  if (!key || !id) return refuse_unactivated();
  change([&](Json& kept) {
    kept.set("release", Json::Object{{"key", *key}, {"activation_id", *id}, {"machine_id", own_machine_id(kept)}});
  });
  return release();
}

/// Frees the machine that waits for it.
Result<> Latchkey::Client::release() {
  const auto before = kept();
  const auto& waiting = before["release"];
  const auto key = waiting["key"].text();
  const auto id = waiting["activation_id"].text();
  const auto machine_id = waiting["machine_id"].text();
  if (!key || !id || !machine_id) return {};
  const auto answer = ask(licenses + "/deactivate", name_activation(*key, *id, *machine_id));
  if (const auto* response = std::get_if<NoResponse>(&answer)) return report_no_answer(*response);
  const auto& reply = std::get<Reply>(answer);
  // A license or an activation that does not exist any more is free, too.
  if (is_about_license(reply) || (!reply.code && reply.body["success"].is_true())) {
    note_answer();
    change([&](Json& kept) {
      kept.set("release", nullptr);
      if (kept["activation_id"].text() != id) return;
      for (const auto* name : {"key", "activation_id", "entitlement", "refused", "request", "trial_wanted"}) kept.set(name, nullptr);
    });
    return {};
  }
  if (!reply.code) return report_no_answer(unexpected_shape());
  change([](Json& kept) { kept.set("release", nullptr); });
  return report_refusal(reply);
}

/// Returns the key that was refused because no machine is free, else the kept one.
Result<std::string> Latchkey::Client::choose_key() const {
  const std::lock_guard lock(memory_mutex_);
  const auto key = memory_.refused_key ? memory_.refused_key : memory_.kept["key"].text();
  if (!key) return refuse_unactivated();
  return *key;
}

Result<std::vector<Latchkey::Client::ListedMachine>> Latchkey::Client::ask_for_machines(const std::string& key) {
  const auto reply = ask_for_success(licenses + "/" + escape(key) + "/activations");
  if (!reply) return *reply.failure;
  const auto* items = reply.value.body.array();
  if (items == nullptr) return report_no_answer(unexpected_shape());
  std::vector<ListedMachine> listed;
  for (const auto& item : *items) {
    const auto id = item["activation_id"].text();
    const auto machine_id = item["machine_id"].text();
    const auto is_active = item["is_active"].boolean();
    if (!id || !machine_id || !is_active) return report_no_answer(unexpected_shape());
    const auto text = [&](const char* name) { return item[name].text(); };
    listed.push_back({{*id, *is_active, false, text("os_version"), text("app_version"), text("activated_at").value_or(""),
                       text("last_validated_at").value_or("")},
                      *machine_id});
  }
  note_answer();
  return listed;
}

Result<std::vector<Machine>> Latchkey::Client::list_machines() {
  const auto key = choose_key();
  if (!key) return *key.failure;
  const auto listed = ask_for_machines(key.value);
  if (!listed) return *listed.failure;
  const auto before = kept();
  std::vector<Machine> machines;
  for (auto [machine, machine_id] : listed.value) {
    machine.is_this = before["activation_id"].text() == machine.activation_id || machine_id == own_machine_id(before);
    machines.push_back(machine);
  }
  return machines;
}

Result<> Latchkey::Client::move_here(std::string_view activation_id) {
  const auto key = choose_key();
  if (!key) return *key.failure;
  const auto listed = ask_for_machines(key.value);
  if (!listed) return *listed.failure;
  const auto& all = listed.value;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.machine.activation_id == activation_id; });
  if (found == all.end()) return refuse("activation_not_found");
  if (found->machine.is_active) {
    const auto body = name_activation(key.value, found->machine.activation_id, found->machine_id);
    const auto reply = ask_for_success(licenses + "/deactivate", body);
    if (!reply) return *reply.failure;
    if (!reply.value.body["success"].is_true()) return report_no_answer(unexpected_shape());
  }
  return activate(key.value);
}

Result<> Latchkey::Client::activate_purchase(std::string_view transaction_id) {
  const auto reply = ask_for_success(licenses + "/check/" + escape(transaction_id));
  if (!reply) return *reply.failure;
  const auto& body = reply.value.body;
  const auto status = body["status"].text();
  if (!status) return report_no_answer(unexpected_shape());
  note_answer();
  auto key = body["license_key"].text().value_or("");
  if (const auto* listed = body["licenses"].array()) {
    for (const auto& each : *listed) {
      if (key.empty()) key = each["license_key"].text().value_or("");
    }
  }
  if (!key.empty()) return activate(key);
  return refuse(*status == "pending" ? "purchase_pending" : "key_not_shown");
}

/// Until an answer is accepted, a request has the same nonce.
Result<std::string> Latchkey::Client::offline_request(std::string_view product, const std::optional<std::string>& name) {
  const auto before = kept();
  const auto open = before["request"]["nonce"].text();
  const auto nonce = open ? *open : encode_base64url(random_bytes());
  const Json content = Json::Object{
      {"product", std::string(product)}, {"machine_fingerprint", fingerprint(before)}, {"nonce", nonce}, {"name", name}};
  const auto created_at = format_time(Clock::of(before).now_ms(now_ms()));
  if (!open) {
    change([&](Json& kept) { kept.set("request", Json::Object{{"nonce", nonce}, {"created_at", created_at}}); });
  }
  const auto text = "LKR1." + encode_base64url(content.dump());
  return text + "." + hash_text(text).substr(0, 10);
}

Result<> Latchkey::Client::accept_offline(std::string_view pasted) {
  const auto token = find_token(pasted);
  if (!token) return refuse("entitlement_malformed");
  const auto before = kept();
  const auto [claims, verdict] = read_entitlement(*token, before);
  if (!claims) return refuse("entitlement_" + verdict);
  const auto problem = find_time_problem(*claims, Clock::of(before).now_ms(now_ms()));
  if (problem) return refuse("entitlement_" + *problem);
  if (!claims->nonce || claims->nonce != before["request"]["nonce"].text()) return refuse("entitlement_nonce");
  const auto id = claims->activation_id;
  change([&](Json& kept) {
    if (kept["activation_id"].text() != id) kept.set("key", nullptr);
    kept.set("activation_id", id);
    kept.set("entitlement", *token);
    kept.set("refused", nullptr);
    kept.set("request", nullptr);
    kept.set("trial_wanted", false);
    cancel_release(kept, id);
  });
  return {};
}

std::string Latchkey::Client::explain() const {
  const auto now = state();
  const auto device_ms = now_ms();
  const std::lock_guard lock(memory_mutex_);
  const auto& kept = memory_.kept;
  const auto key = kept["key"].text();
  const auto refused = kept["refused"]["reason"].text();
  std::string features;
  for (const auto& each : now.features) features += (features.empty() ? "" : ", ") + each;
  std::string waiting = kept["release"].is_object() ? "to be freed " : "";
  if (kept["trial_wanted"].is_true()) waiting += "trial to be started ";
  if (kept["request"].is_object()) waiting += "request without a connection ";
  std::string text;
  const auto add = [&](const char* name, const std::string& content) {
    if (!content.empty()) text += std::string(name) + ": " + content + "\n";
  };
  add("state", std::string(to_string(now.kind)) + (now.reason ? ", " + *now.reason : ""));
  add("until", now.until.value_or(""));
  add("tier", now.tier.value_or(""));
  add("features", features);
  add("key", key ? "…" + key->substr(key->size() - std::min<std::size_t>(5, key->size())) : "");
  add("machine", hash_text(own_machine_id(kept)).substr(0, 8) + " (SHA-256)");
  add("last answer", now.last_answer_at.value_or("never"));
  add("last request", memory_.last_failure.value_or("answered, or none"));
  add("refused", refused ? *refused + " at " + kept["refused"]["at"].text().value_or("") : "");
  add("waiting", waiting.substr(0, waiting.empty() ? 0 : waiting.size() - 1));
  add("time", format_time(Clock::of(kept).now_ms(device_ms)));
  add("device clock", format_time(device_ms) + (now.clock_went_back ? " (was set back)" : ""));
  add("service", options_.service);
  add("program", options_.app_version);
  add("client", "latchkey-cpp " + std::string(version) + ", " + describe_platform());
  for (const auto& each : memory_.problems) add("problem", each.code + ": " + each.message);
  return text;
}

void Latchkey::Client::keep_checking() {
  const std::lock_guard lock(background_mutex_);
  if (background_.joinable() || is_closed_) return;
  try {
    background_ = std::thread([this] { watch(); });
  } catch (const std::system_error& error) {
    report("unexpected", std::string("could not start a thread: ") + error.what());
  }
}

void Latchkey::Client::signal(std::optional<std::chrono::seconds> unanswered) {
  const std::lock_guard lock(background_mutex_);
  if (!background_.joinable()) return;
  signals_.push_back(unanswered);
  background_changed_.notify_all();
}

/// Checks until the client is closed.
void Latchkey::Client::watch() {
  background_id_ = std::this_thread::get_id();
  constexpr auto tick_time = std::chrono::seconds(60);
  Schedule schedule(now_ms(), describe_network());
  std::optional<Trigger> trigger = Trigger::startup;
  auto tick_at = std::chrono::steady_clock::now() + tick_time;
  for (;;) {
    if (trigger) {
      const auto result = run<Nothing>([&] { return check(*trigger); });
      schedule.after_check(result, must_read_file_, random_fraction());
    }
    notify();
    std::unique_lock lock(background_mutex_);
    background_changed_.wait_until(lock, tick_at, [this] { return is_closed_ || !signals_.empty(); });
    if (is_closed_) return;
    trigger.reset();
    if (signals_.empty()) {
      tick_at = std::chrono::steady_clock::now() + tick_time;
      trigger = schedule.tick(now_ms(), describe_network());
      continue;
    }
    const auto unanswered = signals_.front();
    signals_.pop_front();
    if (unanswered) {
      schedule.unanswered(*unanswered, random_fraction());
    } else {
      trigger = schedule.focus(now_ms());
    }
  }
}

bool Latchkey::Client::wait_for_close(std::chrono::milliseconds time) {
  std::unique_lock lock(background_mutex_);
  return background_changed_.wait_for(lock, time, [this] { return is_closed_.load(); });
}

void Latchkey::Client::close() {
  std::thread ended;
  {
    const std::lock_guard lock(background_mutex_);
    is_closed_ = true;
    background_changed_.notify_all();
    // A listener cannot wait for its own thread; the destructor does.
    if (background_id_.load() != std::this_thread::get_id()) ended.swap(background_);
  }
  if (ended.joinable()) ended.join();
  const std::lock_guard running(calls_);
  const std::lock_guard lock(memory_mutex_);
  memory_.listeners.clear();
}

}  // namespace latchkey
