// Licenses in a desktop program: activation, trials and offline use with a Latchkey service.
//
// Opening reads what is kept and sends no request, so a program starts at once. state() never waits. Calls to the service run
// one after the other and block until it answered or the timeout is over: make them on a thread of their own. Only an answer of
// the service changes anything: a customer without a network keeps working.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey {

inline constexpr std::string_view version = "1.0.0";

/// What is in force: a license, a trial, nothing; an entitlement that has ended, or a license that the service refused.
enum class Kind { licensed, trial, none, ended, refused };

/// Why the service did not answer: its name was not found, no connection, its certificate, a proxy that wants a password, no
/// answer in time, an answer of something else (a login page, a firewall), or too much work (429, 5xx).
enum class Cause { dns, connection, tls, proxy, timeout, portal, busy };

/// Why a check is made: at the start, by time, at the front again, after sleep, with a network again, or because the user wants it.
enum class Trigger { startup, scheduled, foreground, wake, reconnect, manual };

std::string_view to_string(Kind kind);
std::string_view to_string(Cause cause);
std::string_view to_string(Trigger trigger);

/// What a program may do now, and why. Times are RFC 3339 in UTC.
struct State {
  bool may_run = false;
  Kind kind = Kind::none;
  /// The code of why it may not run.
  std::optional<std::string> reason;
  std::optional<std::string> tier;
  /// Empty if the program may not run.
  std::vector<std::string> features;
  /// The end of the entitlement.
  std::optional<std::string> until;
  /// Whole days until then, rounded up.
  std::optional<std::int64_t> days_left;
  /// Whether the service answered the last request since opening.
  bool is_answered = false;
  std::optional<std::string> last_answer_at;
  /// Whether the clock of the device was set back. Ask the user; nothing is locked.
  bool clock_went_back = false;
};

bool operator==(const State& one, const State& other);

/// Why a call did not work.
struct Failure {
  /// `no_answer`, a code of the service, or one of the client: `key_mistyped`, `not_activated`, `folder_unreadable`,
  /// `already_licensed`, `trial_expired`, `trial_unavailable`, `purchase_pending`, `key_not_shown`, `aborted`, `unexpected`, or
  /// `entitlement_` and why an answer for use without a connection is not accepted.
  std::string code;
  /// Only of `no_answer`, after which nothing changed.
  std::optional<Cause> cause;
  /// How long the service asked to wait.
  std::chrono::seconds retry_after{0};
  /// Of a limit: how many are allowed, how many there are, and when the next one is possible.
  std::optional<std::int64_t> max;
  std::optional<std::int64_t> current;
  std::optional<std::string> available_at;
};

struct Nothing {};

/// The result of a call; true if it worked.
template <typename Value = Nothing>
struct Result {
  Value value{};
  std::optional<Failure> failure;

  Result() = default;
  Result(Value content) : value(std::move(content)) {}
  Result(Failure reason) : failure(std::move(reason)) {}

  explicit operator bool() const { return !failure; }
};

/// A machine of a license. Times are RFC 3339.
struct Machine {
  std::string activation_id;
  bool is_active = false;
  /// Whether the program runs on it.
  bool is_this = false;
  std::optional<std::string> os_version;
  std::optional<std::string> app_version;
  std::string activated_at;
  std::string last_validated_at;
};

/// A failure that the client continued after.
struct Problem {
  /// `file_damaged`, `folder_unreadable`, `folder_unwritable`, `machine_unreadable`, `listener` or `unexpected`.
  std::string code;
  /// A sentence for a log. It contains no key.
  std::string message;
};

/// An Ed25519 key of the service.
struct PublicKey {
  std::string kid;
  std::array<std::uint8_t, 32> x{};
};

/// Reads the text of `/.well-known/jwks.json`, or of its list `keys`.
/// @throws std::invalid_argument if the text is damaged, or lists other keys than those of Ed25519
std::vector<PublicKey> read_public_keys(std::string_view json);

/// A request of the client, to be sent once with content type `application/json`.
struct Request {
  std::string url;
  /// JSON to send with POST; without it, GET is used.
  std::optional<std::string> body;
  /// The time for all of it.
  std::chrono::milliseconds timeout{10'000};
  /// Whether the program ends: then the request is, too.
  std::function<bool()> is_cancelled;
};

/// What arrived over HTTP, or why nothing did.
struct Response {
  /// Without a response: why; `portal` for a body that is too large.
  std::optional<Cause> failure;
  /// For support: what failed, in a few words.
  std::string detail;
  int status = 0;
  std::string content_type;
  std::string date;
  std::string retry_after;
  std::string body;
};

/// A larger body is no answer of the service.
inline constexpr std::size_t max_body_bytes = 1'000'000;

/// Sends a request. It follows no redirect, and reads no more than max_body_bytes.
using Transport = std::function<Response(const Request&)>;

/// Returns a transport of libcurl, with the proxy of the environment and the certificates of the system; empty if the library was
/// built without it.
Transport curl_transport();

/// What a program passes when it opens a client. The first six members are required.
struct Options {
  /// The address of the service, such as `https://license.example.com`.
  std::string service;
  /// Its `LATCHKEY_PUBLIC_URL`, which its entitlements name; usually the same address.
  std::string issuer;
  /// The ids of your products in the catalogue.
  std::vector<std::string> products;
  /// Those of the service: compile them in, so that it needs no download.
  std::vector<PublicKey> public_keys;
  /// A folder of the program and this user, for `license.json`.
  std::filesystem::path folder;
  std::string app_version;
  /// Shown to support, never compared.
  std::optional<std::string> os_version;
  /// The identity of the machine, with a `machine_id`; default: that of the system.
  std::map<std::string, std::string> machine;
  /// The time for one request as a whole.
  std::chrono::milliseconds timeout{10'000};
  Transport transport = curl_transport();
  /// The clock of the device, in milliseconds since 1970; default: that of the system.
  std::function<std::int64_t()> now;
  /// Receives each failure that the client continues after. It must not call the client.
  std::function<void(const Problem&)> on_problem;
};

/// The license of a program on this machine. All members may be called from any thread. Apart from the constructor, none throws.
class Latchkey {
 public:
  /// Reads what is kept in the folder. It sends no request.
  /// @throws std::invalid_argument that names all wrong options
  explicit Latchkey(Options options);
  /// Does what close() does.
  ~Latchkey();
  Latchkey(const Latchkey&) = delete;
  Latchkey& operator=(const Latchkey&) = delete;

  /// Returns what the program may do now. It needs no network, and never waits for a call.
  State state() const;
  /// Returns whether the program may run, with this feature.
  bool has(std::string_view feature) const;
  /// Calls a function whenever the state changes, until close(), on the thread that changed it.
  void on_change(std::function<void(const State&)> listener);

  /// Activates this machine with a key, as a person typed or pasted it.
  Result<> activate(std::string_view key);
  /// Starts the trial of this machine. Without an answer, keep_checking() starts it later.
  Result<> start_trial();
  /// Asks the service whether this machine may run.
  Result<> check(Trigger trigger = Trigger::manual);
  /// Checks on a thread of its own: now, daily, after sleep, when the network returns.
  void keep_checking();
  /// Call it when the program comes to the front: a check follows in the background, at most one a minute.
  void notice_focus();
  /// Lists the machines of the license, or of the key that was just refused because none is free; active ones first.
  Result<std::vector<Machine>> machines();
  /// Frees another machine of the license, and activates this one.
  Result<> move_here(std::string_view activation_id);
  /// Frees this machine. Without an answer it continues to run, and the next check frees it.
  Result<> deactivate();
  /// Waits for the license of a purchase, and activates it. `transaction_id` is that of the payment provider's checkout.
  Result<> after_purchase(std::string_view transaction_id, std::chrono::seconds timeout = std::chrono::minutes(10));

  /// Returns the text of a machine without a connection, for the page for buyers. `name` is what the user calls the machine.
  Result<std::string> offline_request(std::string_view product, std::optional<std::string> name = {});
  /// Accepts the answer to the last request, with any text around it.
  Result<> accept_offline(std::string_view text);

  /// Returns a text for support, without key, token and machine id.
  std::string explain() const;
  /// Ends the checks in the background and the requests that run, and waits for them.
  void close();

 private:
  class Client;
  std::unique_ptr<Client> client_;
};

}  // namespace latchkey
