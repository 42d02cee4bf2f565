// What the rules of all clients decide, without a clock, a file or a network: entitlements, typed keys, time, state, answers.
#pragma once

#include <variant>

#include "json.hpp"
#include "latchkey/latchkey.hpp"

namespace latchkey {

std::string encode_base64url(std::string_view bytes);
/// Returns nothing unless the text is what encode_base64url returns for the bytes.
std::optional<std::string> decode_base64url(std::string_view text);
std::string sha256(std::string_view data);

/// Returns the Ed25519 keys of a list, and ignores others.
std::vector<PublicKey> read_public_keys(const Json& list);
Json write_public_key(const PublicKey& key);

/// What an entitlement must fit.
struct Trust {
  std::vector<PublicKey> keys;
  std::string issuer;
  std::vector<std::string> products;
  std::string machine_id;
};

/// The statements of an entitlement. Times are seconds since 1970.
struct Claims {
  std::int64_t iat = 0;
  std::int64_t nbf = 0;
  std::int64_t exp = 0;
  std::optional<std::int64_t> license_expires_at;
  bool trial = false;
  std::optional<std::string> tier;
  std::vector<std::string> features;
  std::optional<std::string> activation_id;
  std::optional<std::string> nonce;
};

/// The claims of a genuine entitlement, or the verdict: the first check that fails.
struct TokenReading {
  std::optional<Claims> claims;
  std::string verdict = "ok";
};

/// Verifies everything about an entitlement but its times and its nonce, so that the result stays true.
TokenReading read_token(std::string_view token, const Trust& trust);
/// Returns the first problem with the times, `early` or `late`, or nothing. A clock may be five minutes behind.
std::optional<std::string> find_time_problem(const Claims& claims, std::int64_t now_ms);
/// Returns the base64url SHA-256 of a text.
std::string hash_text(std::string_view text);
/// Finds an entitlement in a text that a person pasted.
std::optional<std::string> find_token(std::string_view pasted);

/// `foreign`: perhaps issued elsewhere; it is sent as it is.
enum class KeyVerdict { ok, mistyped, foreign };

struct KeyReading {
  KeyVerdict verdict = KeyVerdict::foreign;
  std::string key;
};

/// Reads a key that a person typed or pasted.
KeyReading read_key(std::string_view typed);

/// What is known of the time of the service, in milliseconds.
struct Clock {
  /// The time of the service less that of the device; 0 if they differ by less than five minutes.
  std::int64_t offset_ms = 0;
  /// The latest time of the service that was seen.
  std::int64_t latest_ms = 0;

  static Clock of(const Json& kept);
  Json write() const;
  std::int64_t now_ms(std::int64_t device_ms) const;
  bool went_back(std::int64_t device_ms) const;
  /// Adds what a run learnt before the clock of the file could be read.
  Clock join(const Clock& run) const;
  Clock learn(std::int64_t device_ms, std::int64_t service_ms) const;
};

/// Returns the time of the service in an answer with a genuine entitlement. No signature protects the header `Date`.
std::int64_t service_time(std::optional<std::int64_t> date_ms, std::int64_t issued_ms);

/// Derives the state from what is kept and the claims of its entitlement, if that is genuine.
State derive_state(const Json& kept, const std::optional<Claims>& claims, bool is_answered, std::int64_t device_ms);

/// No answer of the service, whatever arrived.
struct NoResponse {
  Cause cause = Cause::portal;
  std::string detail;
  std::chrono::seconds retry_after{0};
};

/// An answer of the service; with a code, it is a refusal.
struct Reply {
  int status = 0;
  std::optional<std::string> code;
  Json body;
  /// Its header `Date`.
  std::optional<std::int64_t> date_ms;
};

using Answer = std::variant<Reply, NoResponse>;

NoResponse unexpected_shape();
/// Decides what arrived: only JSON of the service's own forms is an answer.
Answer classify(const Response& response);
/// Whether a refusal is about the license, and not about the path, or of something between.
bool is_about_license(const Reply& reply);

/// Reads a machine id (machine-id(5)).
std::optional<std::string> read_machine_id_file(std::string_view content);
/// Reads the serial number of a board (DMI); nothing for what vendors write instead of one.
std::optional<std::string> read_board_serial(std::string_view content);
/// Reads what `ioreg` prints.
std::optional<std::string> read_ioreg_output(std::string_view output);
/// Reads what `reg.exe query` prints, in any language of Windows.
std::optional<std::string> read_registry_output(std::string_view output);

/// Formats a time in RFC 3339, in UTC.
std::string format_time(std::int64_t ms);
/// Parses the header `Date` (RFC 9110): `Sun, 06 Nov 1994 08:49:37 GMT`.
std::optional<std::int64_t> parse_date(const std::string& text);

}  // namespace latchkey
