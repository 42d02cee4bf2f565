// Small JSON (RFC 8259): what the client needs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace latchkey {

/// A JSON value.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(std::int64_t value) : value_(static_cast<double>(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}
  Json(std::optional<std::string> value) {
    if (value) value_ = *std::move(value);
  }

  /// Returns nothing unless the whole text is JSON in UTF-8. Of a name that appears twice, the last one counts.
  static std::optional<Json> parse(std::string_view text);
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_object() const { return object() != nullptr; }
  bool is_true() const { return is(true); }
  bool is_false() const { return is(false); }
  /// The content; null if it has another type.
  const Object* object() const { return std::get_if<Object>(&value_); }
  const Array* array() const { return std::get_if<Array>(&value_); }

  /// A field of an object; null value if there is none.
  const Json& operator[](std::string_view name) const;
  /// Sets a field; another value becomes an object.
  void set(std::string_view name, Json value);

  std::optional<std::string> text() const;
  std::optional<bool> boolean() const;
  /// A whole number that is exact in clients of all languages.
  std::optional<std::int64_t> integer() const;

 private:
  bool is(bool expected) const { return boolean() == expected; }

  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_ = nullptr;
};

/// Decodes UTF-8; nothing if it is invalid.
std::optional<std::u32string> decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);

}  // namespace latchkey
