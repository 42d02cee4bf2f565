#include "latchkey/latchkey.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "client.hpp"
#include "system.hpp"

namespace latchkey {
namespace {

/// Corrects the address of the service. @throws std::invalid_argument that names all wrong options
Options validate(Options options) {
  while (!options.service.empty() && options.service.back() == '/') options.service.pop_back();
  if (!options.os_version) options.os_version = system_version();
  const auto& products = options.products;
  const std::pair<const char*, bool> rules[] = {
      {"service must be an http or https URL", !host_of(options.service).empty()},
      {"issuer must not be empty", !options.issuer.empty()},
      {"products must list ids", !products.empty() && std::count(products.begin(), products.end(), "") == 0},
      {"folder must be a path", !options.folder.empty()},
      {"app_version must not be empty", !options.app_version.empty()},
      {"machine must have a machine_id", options.machine.empty() || options.machine.count("machine_id") > 0},
      {"timeout must be positive", options.timeout.count() > 0},
      {"transport is missing", static_cast<bool>(options.transport)},
  };
  std::string wrong;
  for (const auto& [rule, holds] : rules) {
    if (!holds) wrong += (wrong.empty() ? "wrong options: " : "; ") + std::string(rule);
  }
  if (!wrong.empty()) throw std::invalid_argument(wrong);
  return options;
}

}  // namespace

std::string_view to_string(Kind kind) {
  static constexpr std::string_view names[] = {"licensed", "trial", "none", "ended", "refused"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Cause cause) {
  static constexpr std::string_view names[] = {"dns", "connection", "tls", "proxy", "timeout", "portal", "busy"};
  return names[static_cast<std::size_t>(cause)];
}

std::string_view to_string(Trigger trigger) {
  static constexpr std::string_view names[] = {"startup", "scheduled", "foreground", "wake", "reconnect", "manual"};
  return names[static_cast<std::size_t>(trigger)];
}

bool operator==(const State& one, const State& other) {
  const auto fields = [](const State& state) {
    return std::tie(state.may_run, state.kind, state.reason, state.tier, state.features, state.until, state.days_left,
                    state.is_answered, state.last_answer_at, state.clock_went_back);
  };
  return fields(one) == fields(other);
}

Latchkey::Latchkey(Options options) : client_(std::make_unique<Client>(validate(std::move(options)))) {}

Latchkey::~Latchkey() { close(); }

State Latchkey::state() const { return client_->state(); }

bool Latchkey::has(std::string_view feature) const {
  const auto features = state().features;
  return std::find(features.begin(), features.end(), feature) != features.end();
}

void Latchkey::on_change(std::function<void(const State&)> listener) { client_->add_listener(std::move(listener)); }

Result<> Latchkey::activate(std::string_view key) {
  return client_->call<Nothing>([&] { return client_->activate(key); });
}

Result<> Latchkey::start_trial() {
  return client_->call<Nothing>([&] { return client_->start_trial(); });
}

Result<> Latchkey::check(Trigger trigger) {
  return client_->call<Nothing>([&] { return client_->check(trigger); });
}

void Latchkey::keep_checking() { client_->keep_checking(); }

void Latchkey::notice_focus() { client_->signal(std::nullopt); }

Result<std::vector<Machine>> Latchkey::machines() {
  return client_->call<std::vector<Machine>>([&] { return client_->list_machines(); });
}

Result<> Latchkey::move_here(std::string_view activation_id) {
  return client_->call<Nothing>([&] { return client_->move_here(activation_id); });
}

Result<> Latchkey::deactivate() {
  return client_->call<Nothing>([&] { return client_->deactivate(); });
}

Result<> Latchkey::after_purchase(std::string_view transaction_id, std::chrono::seconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::chrono::duration<double, std::milli> pause = std::chrono::seconds(2);
  for (;;) {
    auto result = client_->call<Nothing>([&] { return client_->activate_purchase(transaction_id); });
    // The payment may be confirmed while the network is away.
    const bool is_open = result.failure && (result.failure->code == "purchase_pending" || result.failure->cause);
    if (!is_open) return result;
    if (std::chrono::steady_clock::now() >= deadline) return refuse("purchase_pending");
    if (client_->wait_for_close(std::chrono::duration_cast<std::chrono::milliseconds>(pause))) return refuse("aborted");
    pause = std::min<std::chrono::duration<double, std::milli>>(pause * 1.3, std::chrono::seconds(15));
  }
}

Result<std::string> Latchkey::offline_request(std::string_view product, std::optional<std::string> name) {
  return client_->call<std::string>([&] { return client_->offline_request(product, name); });
}

Result<> Latchkey::accept_offline(std::string_view text) {
  return client_->call<Nothing>([&] { return client_->accept_offline(text); });
}

std::string Latchkey::explain() const { return client_->explain(); }

void Latchkey::close() { client_->close(); }

}  // namespace latchkey
