#include "rules.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace latchkey {
namespace {

constexpr std::string_view base64url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::int64_t day_ms = 86'400'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return text;
}

std::string trim(std::string_view text) {
  constexpr std::string_view blanks(" \t\r\n\0", 5);
  const auto start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos) return {};
  return std::string(text.substr(start, text.find_last_not_of(blanks) - start + 1));
}

/// Blanks of ECMAScript, which every client removes.
bool is_blank(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

/// The dashes of Unicode (category Pd).
bool is_dash(char32_t c) {
  constexpr std::u32string_view others = U"-\u058A\u05BE\u1400\u1806\u2E17\u2E1A\u2E3A\u2E3B\u2E40\u2E5D\u301C\u3030\u30A0"
                                         U"\uFE31\uFE32\uFE58\uFE63\uFF0D\U00010EAD";
  return (c >= 0x2010 && c <= 0x2015) || others.find(c) != std::u32string_view::npos;
}

using Bytes32 = std::array<std::uint8_t, 32>;

/// The y-coordinates, in little-endian order, of the points whose order divides eight, apart from 0, 1 and -1: a signature of such a
/// key fits every message.
constexpr Bytes32 order_eight = {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
                                 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a};
constexpr Bytes32 minus_order_eight = {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
                                       0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
                                       0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05};

/// Whether a key is encoded canonically, and is no point of small order.
bool is_safe(Bytes32 y) {
  y[31] &= 0x7F;
  const bool is_small = y[0] <= 1 && std::all_of(y.begin() + 1, y.end(), [](auto byte) { return byte == 0; });
  // The prime ends with ed; -1 is ec.
  const bool is_large = y[0] >= 0xEC && y[31] == 0x7F && std::all_of(y.begin() + 1, y.end() - 1, [](auto byte) { return byte == 0xFF; });
  return !is_small && !is_large && y != order_eight && y != minus_order_eight;
}

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

const std::uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

/// Verifies as RFC 8032 requires; OpenSSL refuses an S that is not below the order.
bool verify_signature(const Bytes32& x, std::string_view message, std::string_view signature) {
  if (signature.size() != 64 || !is_safe(x)) return false;
  const std::unique_ptr<EVP_PKEY, FreeKey> key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, x.data(), x.size()));
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  if (!key || !context || EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1) return false;
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
}

std::optional<Json> read_part(std::string_view part) {
  const auto bytes = decode_base64url(part);
  auto json = bytes ? Json::parse(*bytes) : std::nullopt;
  return json && json->is_object() ? json : std::nullopt;
}

std::optional<Claims> read_claims(const Json& payload) {
  const auto iat = payload["iat"].integer();
  const auto nbf = payload["nbf"].integer();
  const auto exp = payload["exp"].integer();
  if (!iat || !nbf || !exp) return std::nullopt;
  Claims claims;
  claims.iat = *iat;
  claims.nbf = *nbf;
  claims.exp = *exp;
  claims.license_expires_at = payload["license_expires_at"].integer();
  claims.trial = payload["trial"].is_true();
  claims.tier = payload["tier"].text();
  if (const auto* features = payload["features"].array()) {
    for (const auto& each : *features) {
      if (const auto feature = each.text()) claims.features.push_back(*feature);
    }
  }
  claims.activation_id = payload["activation_id"].text();
  claims.nonce = payload["nonce"].text();
  return claims;
}

/// Crockford's base 32.
constexpr std::string_view key_alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Returns the symbols in their usual form; nothing if one is none.
std::optional<std::string> read_symbols(std::string_view typed) {
  std::string symbols;
  for (const char c : typed) {
    const char upper = to_upper(c);
    const char symbol = upper == 'O' ? '0' : upper == 'I' || upper == 'L' ? '1' : upper;
    if (key_alphabet.find(symbol) == std::string_view::npos) return std::nullopt;
    symbols += symbol;
  }
  return symbols;
}

/// The last two symbols are the number of the others modulo 1021.
bool has_right_checksum(std::string_view symbols) {
  std::size_t remainder = 0;
  std::size_t check = 0;
  for (std::size_t index = 0; index < symbols.size(); ++index) {
    const auto value = key_alphabet.find(symbols[index]);
    if (index < symbols.size() - 2) {
      remainder = (remainder * 32 + value) % 1021;
    } else {
      check = check * 32 + value;
    }
  }
  return check == remainder;
}

bool is_problem(const Response& response, const Json& body) {
  const auto type = lower(response.content_type.substr(0, response.content_type.find(';')));
  return trim(type) == "application/problem+json" || body["status"].integer() == response.status;
}

/// Reads seconds; the service sends no date. One that asks for more than a day is believed for a day.
std::chrono::seconds read_retry_after(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 9 && std::all_of(text.begin(), text.end(), is_digit);
  return std::chrono::seconds(is_number ? std::min(std::stol(text), 86'400L) : 0);
}

std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

}  // namespace

std::string encode_base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8) | static_cast<std::uint8_t>(byte);
    for (count += 8; count >= 6; count -= 6) text += base64url_alphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += base64url_alphabet[(bits << (6 - count)) & 63];
  return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = base64url_alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> count) & 0xFF);
    }
  }
  const bool is_canonical = !text.empty() && encode_base64url(bytes) == text;
  return is_canonical ? std::optional(bytes) : std::nullopt;
}

std::string sha256(std::string_view data) {
  std::string digest(32, '\0');
  EVP_Digest(data.data(), data.size(), reinterpret_cast<std::uint8_t*>(digest.data()), nullptr, EVP_sha256(), nullptr);
  return digest;
}

std::string hash_text(std::string_view text) { return encode_base64url(sha256(text)); }

std::vector<PublicKey> read_public_keys(const Json& list) {
  std::vector<PublicKey> keys;
  if (list.array() == nullptr) return keys;
  for (const auto& each : *list.array()) {
    const auto kid = each["kid"].text();
    const auto x = decode_base64url(each["x"].text().value_or(""));
    if (each["kty"].text() != "OKP" || each["crv"].text() != "Ed25519" || !kid || !x || x->size() != 32) continue;
    PublicKey key{*kid, {}};
    std::memcpy(key.x.data(), x->data(), 32);
    keys.push_back(key);
  }
  return keys;
}

std::vector<PublicKey> read_public_keys(std::string_view json) {
  const auto parsed = Json::parse(json).value_or(Json());
  const auto& list = parsed.is_object() ? parsed["keys"] : parsed;
  auto keys = read_public_keys(list);
  if (list.array() == nullptr || list.array()->size() != keys.size()) {
    throw std::invalid_argument("wrong options: public_keys must list Ed25519 keys");
  }
  return keys;
}

Json write_public_key(const PublicKey& key) {
  const std::string_view x(reinterpret_cast<const char*>(key.x.data()), key.x.size());
  return Json::Object{{"kty", "OKP"}, {"crv", "Ed25519"}, {"kid", key.kid}, {"x", encode_base64url(x)}};
}

TokenReading read_token(std::string_view token, const Trust& trust) {
  const auto dot = token.find('.');
  const auto last = token.rfind('.');
  if (dot == std::string_view::npos || dot == last) return {{}, "malformed"};
  const auto signed_part = token.substr(0, last);
  const auto header = read_part(token.substr(0, dot));
  const auto payload = read_part(signed_part.substr(dot + 1));
  const auto signature = decode_base64url(token.substr(last + 1));
  const auto claims = payload ? read_claims(*payload) : std::nullopt;
  const auto kid = header ? (*header)["kid"].text() : std::nullopt;
  if (!signature || !claims || !kid || (*header)["typ"].text() != "entitlement+jwt") return {{}, "malformed"};
  if (header->object()->count("crit") > 0) return {{}, "malformed"};
  if ((*header)["alg"].text() != "EdDSA") return {{}, "algorithm"};
  const auto& keys = trust.keys;
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const auto& each) { return each.kid == *kid; });
  if (key == keys.end()) return {{}, "unknown_key"};
  if (!verify_signature(key->x, signed_part, *signature)) return {{}, "signature"};
  if ((*payload)["iss"].text() != trust.issuer) return {{}, "issuer"};
  const auto aud = (*payload)["aud"].text();
  if (!aud || std::count(trust.products.begin(), trust.products.end(), *aud) == 0) return {{}, "audience"};
  if ((*payload)["machine"].text() != hash_text(trust.machine_id)) return {{}, "machine"};
  return {claims, "ok"};
}

std::optional<std::string> find_time_problem(const Claims& claims, std::int64_t now_ms) {
  if (now_ms < (claims.nbf - 300) * 1000) return "early";
  return now_ms >= claims.exp * 1000 ? std::optional<std::string>("late") : std::nullopt;
}

std::optional<std::string> find_token(std::string_view pasted) {
  const auto decoded = decode_utf8(pasted);
  if (!decoded) return std::nullopt;
  std::u32string kept;
  for (const char32_t c : *decoded) {
    // Blanks, quotation marks of mail, and a character that is not seen.
    if (!is_blank(c) && c != U'>' && c != 0x200B) kept += c;
  }
  const auto text = encode_utf8(kept);
  const auto is_symbol = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  const auto end_of = [&](std::size_t start) {
    return static_cast<std::size_t>(std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(start), text.end(), is_symbol) - text.begin());
  };
  // A header and a payload begin with {"; a signature has 64 bytes.
  for (auto start = text.find("eyJ"); start != std::string::npos; start = text.find("eyJ", start + 1)) {
    const auto dot = end_of(start);
    if (text.compare(dot, 4, ".eyJ") != 0) continue;
    const auto second = end_of(dot + 1);
    if (second < text.size() && text[second] == '.' && end_of(second + 1) >= second + 87) {
      return text.substr(start, second + 87 - start);
    }
  }
  return std::nullopt;
}

KeyReading read_key(std::string_view typed) {
  const auto decoded = decode_utf8(typed);
  if (!decoded) return {KeyVerdict::foreign, trim(typed)};
  const auto start = std::find_if_not(decoded->begin(), decoded->end(), is_blank);
  const auto end = std::find_if_not(decoded->rbegin(), std::make_reverse_iterator(start), is_blank).base();
  const std::u32string trimmed(start, end);
  const KeyReading foreign{KeyVerdict::foreign, encode_utf8(trimmed)};
  std::string joined;
  std::string first;
  for (const char32_t c : trimmed) {
    if (is_blank(c) || is_dash(c)) {
      if (first.empty()) first = joined;
    } else if (c < 0x80 && is_letter_or_digit(static_cast<char>(c))) {
      joined += static_cast<char>(c);
    } else {
      return foreign;
    }
  }
  if (joined.size() < 25 || joined.size() > 33) return foreign;
  auto prefix = joined.substr(0, joined.size() - 25);
  const auto symbols = read_symbols(std::string_view(joined).substr(prefix.size()));
  if (!symbols) return foreign;
  const bool is_right = has_right_checksum(*symbols);
  if (!is_right && (prefix.empty() || first != prefix)) return foreign;
  std::transform(prefix.begin(), prefix.end(), prefix.begin(), to_upper);
  std::string key = prefix;
  for (std::size_t at = 0; at < symbols->size(); at += 5) key += (key.empty() ? "" : "-") + symbols->substr(at, 5);
  return {is_right ? KeyVerdict::ok : KeyVerdict::mistyped, key};
}

Clock Clock::of(const Json& kept) {
  const auto& clock = kept["clock"];
  return {clock["offset_ms"].integer().value_or(0), clock["latest_ms"].integer().value_or(0)};
}

Json Clock::write() const { return Json::Object{{"offset_ms", offset_ms}, {"latest_ms", latest_ms}}; }

std::int64_t Clock::now_ms(std::int64_t device_ms) const { return std::max(device_ms + offset_ms, latest_ms); }

bool Clock::went_back(std::int64_t device_ms) const { return device_ms + offset_ms < latest_ms - 3'600'000; }

Clock Clock::join(const Clock& run) const {
  return {run.latest_ms > 0 ? run.offset_ms : offset_ms, std::max(latest_ms, run.latest_ms)};
}

Clock Clock::learn(std::int64_t device_ms, std::int64_t service_ms) const {
  const auto difference_ms = service_ms - device_ms;
  const bool is_small = difference_ms < 300'000 && difference_ms > -300'000;
  return {is_small ? 0 : difference_ms, std::max(latest_ms, service_ms)};
}

std::int64_t service_time(std::optional<std::int64_t> date_ms, std::int64_t issued_ms) {
  // A token is an hour old at most when the service sends it again.
  const bool fits = date_ms && *date_ms >= issued_ms && *date_ms <= issued_ms + 3'900'000;
  return fits ? *date_ms : issued_ms;
}

State derive_state(const Json& kept, const std::optional<Claims>& claims, bool is_answered, std::int64_t device_ms) {
  const auto clock = Clock::of(kept);
  const auto now_ms = clock.now_ms(device_ms);
  State state;
  state.is_answered = is_answered;
  state.last_answer_at = kept["last_answer_at"].text();
  state.clock_went_back = clock.went_back(device_ms);
  if (!kept["key"].text() && !kept["entitlement"].text()) {
    state.reason = "not_activated";
    return state;
  }
  if (const auto reason = kept["refused"]["reason"].text()) {
    state.kind = Kind::refused;
    state.reason = reason;
    return state;
  }
  const auto problem = claims ? find_time_problem(*claims, now_ms) : std::nullopt;
  if (!claims || problem == "early") {
    state.reason = "entitlement_invalid";
    return state;
  }
  const auto left_ms = std::max<std::int64_t>(0, claims->exp * 1000 - now_ms);
  state.tier = claims->tier;
  state.until = format_time(claims->exp * 1000);
  state.days_left = left_ms / day_ms + (left_ms % day_ms > 0 ? 1 : 0);
  if (problem) {
    const auto end = claims->license_expires_at;
    state.kind = Kind::ended;
    state.reason = end && *end * 1000 <= now_ms ? "license_expired" : "entitlement_expired";
    return state;
  }
  state.may_run = true;
  state.kind = claims->trial ? Kind::trial : Kind::licensed;
  state.features = claims->features;
  return state;
}

NoResponse unexpected_shape() { return {Cause::portal, "JSON of another shape", {}}; }

Answer classify(const Response& response) {
  const auto status = response.status;
  const auto what = "status " + std::to_string(status);
  if (response.failure) return NoResponse{*response.failure, response.detail, {}};
  if (status == 429 || status >= 500) return NoResponse{Cause::busy, what, read_retry_after(response.retry_after)};
  if (status == 407) return NoResponse{Cause::proxy, what, {}};
  const auto body = Json::parse(response.body);
  const auto date_ms = parse_date(response.date);
  if (status == 200 && body) return Reply{status, {}, *body, date_ms};
  const auto code = body ? (*body)["code"].text() : std::nullopt;
  if (status >= 400 && code && is_problem(response, *body)) return Reply{status, code, *body, date_ms};
  return NoResponse{Cause::portal, what + ", not an answer of the service", {}};
}

bool is_about_license(const Reply& reply) {
  const auto code = reply.code.value_or("");
  const auto begins_with = [&](std::string_view prefix) { return code.compare(0, prefix.size(), prefix) == 0; };
  const bool is_about = begins_with("license_") || begins_with("activation_") || begins_with("machine_") || begins_with("trial_");
  return is_about && (reply.status == 403 || reply.status == 404);
}

std::optional<std::string> read_machine_id_file(std::string_view content) {
  const auto id = lower(trim(content));
  const bool is_hexadecimal = std::all_of(id.begin(), id.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  const bool is_zero = std::all_of(id.begin(), id.end(), [](char c) { return c == '0'; });
  return id.size() == 32 && is_hexadecimal && !is_zero ? std::optional(id) : std::nullopt;
}

std::optional<std::string> read_board_serial(std::string_view content) {
  static const std::vector<std::string> placeholders = {
      "default string", "to be filled by o.e.m.", "to be filled by o.e.m", "not specified",        "not applicable",
      "not available",  "none",                   "n/a",                   "system serial number", "board serial number"};
  const auto serial = trim(content);
  const auto name = lower(serial);
  const auto consists_of = [&](std::string_view filler) { return name.find_first_not_of(filler) == std::string::npos; };
  const bool is_filler = consists_of("0") || consists_of("x") || consists_of("-. ");
  const bool is_placeholder = std::count(placeholders.begin(), placeholders.end(), name) > 0;
  return is_filler || is_placeholder ? std::nullopt : std::optional(serial);
}

std::optional<std::string> read_ioreg_output(std::string_view output) {
  constexpr std::string_view name = "\"IOPlatformUUID\" = \"";
  const auto found = output.find(name);
  if (found == std::string_view::npos) return std::nullopt;
  const auto uuid = output.substr(found + name.size(), output.find('"', found + name.size()) - found - name.size());
  const bool is_uuid = !uuid.empty() && std::all_of(uuid.begin(), uuid.end(), [](char c) { return is_letter_or_digit(c) || c == '-'; });
  return is_uuid ? std::optional(std::string(uuid)) : std::nullopt;
}

std::optional<std::string> read_registry_output(std::string_view output) {
  constexpr std::string_view type = "REG_SZ";
  const auto name = output.find("    MachineGuid") != std::string_view::npos ? output.find("    MachineGuid") : output.find("\tMachineGuid");
  if (name == std::string_view::npos) return std::nullopt;
  const auto line = output.substr(name, output.find('\n', name) - name);
  const auto found = line.find(type);
  const auto guid = found == std::string_view::npos ? "" : trim(line.substr(found + type.size()));
  const bool is_guid = std::all_of(guid.begin(), guid.end(), [](char c) { return is_letter_or_digit(c) || c == '-' || c == '{' || c == '}'; });
  return guid.empty() || !is_guid ? std::nullopt : std::optional(guid);
}

std::string format_time(std::int64_t ms) {
  // The last time of ECMAScript.
  ms = std::clamp<std::int64_t>(ms, -8'640'000'000'000'000, 8'640'000'000'000'000);
  const auto in_day = ms - floor_divide(ms, day_ms) * day_ms;
  // Days from the civil calendar, by Howard Hinnant: years begin in March, eras have 400 years.
  const auto shifted = floor_divide(ms, day_ms) + 719'468;
  const auto era = floor_divide(shifted, 146'097);
  const auto day_of_era = shifted - era * 146'097;
  const auto year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const auto day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto shifted_month = (5 * day_of_year + 2) / 153;
  const auto month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const long long parts[] = {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day_of_year - (153 * shifted_month + 2) / 5 + 1,
                             in_day / 3'600'000, in_day / 60'000 % 60, in_day / 1000 % 60, in_day % 1000};
  char text[64];
  std::snprintf(text, sizeof text, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld.%03lldZ", parts[0], parts[1], parts[2], parts[3],
                parts[4], parts[5], parts[6]);
  return text;
}

std::optional<std::int64_t> parse_date(const std::string& text) {
  static constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int day = 0, year = 0, hour = 0, minute = 0, second = 0, length = 0;
  char name[4] = "";
  const int count = std::sscanf(text.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT%n", &day, name, &year, &hour, &minute, &second, &length);
  const auto index = months.find(name);
  const bool is_month = std::strlen(name) == 3 && index != std::string_view::npos && index % 3 == 0;
  const bool is_time = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  if (count != 6 || static_cast<std::size_t>(length) != text.size() || !is_month || !is_time || day < 1 || day > 31 || year < 0) {
    return std::nullopt;
  }
  const auto month = static_cast<std::int64_t>(index / 3) + 1;
  const std::int64_t shifted_year = month <= 2 ? year - 1 : year;
  const auto era = floor_divide(shifted_year, 400);
  const auto year_of_era = shifted_year - era * 400;
  const auto day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const auto days = era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
  return days * day_ms + ((hour * 60LL + minute) * 60 + second) * 1000;
}

}  // namespace latchkey
