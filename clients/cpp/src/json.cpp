#include "json.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <sstream>

namespace latchkey {
namespace {

/// Deeper than anything that the service sends.
constexpr int max_depth = 100;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Json> parse_document() {
    auto value = parse_value(0);
    skip_blanks();
    return value && at_ == text_.size() ? value : std::nullopt;
  }

 private:
  std::optional<Json> parse_value(int depth) {
    skip_blanks();
    if (at_ >= text_.size() || depth > max_depth) return std::nullopt;
    switch (text_[at_]) {
      case '{': return parse_object(depth);
      case '[': return parse_array(depth);
      case '"': return wrap(parse_string());
      case 't': return take("true") ? std::optional<Json>(true) : std::nullopt;
      case 'f': return take("false") ? std::optional<Json>(false) : std::nullopt;
      case 'n': return take("null") ? std::optional<Json>(nullptr) : std::nullopt;
      default: return parse_number();
    }
  }

  static std::optional<Json> wrap(std::optional<std::string> text) {
    if (!text) return std::nullopt;
    return Json(*std::move(text));
  }

  std::optional<Json> parse_object(int depth) {
    Json::Object object;
    ++at_;
    if (take_after_blanks("}")) return Json(std::move(object));
    do {
      skip_blanks();
      auto name = parse_string();
      if (!name || !take_after_blanks(":")) return std::nullopt;
      auto value = parse_value(depth + 1);
      if (!value) return std::nullopt;
      object[*name] = *std::move(value);
    } while (take_after_blanks(","));
    return take_after_blanks("}") ? std::optional<Json>(std::move(object)) : std::nullopt;
  }

  std::optional<Json> parse_array(int depth) {
    Json::Array array;
    ++at_;
    if (take_after_blanks("]")) return Json(std::move(array));
    do {
      auto value = parse_value(depth + 1);
      if (!value) return std::nullopt;
      array.push_back(*std::move(value));
    } while (take_after_blanks(","));
    return take_after_blanks("]") ? std::optional<Json>(std::move(array)) : std::nullopt;
  }

  std::optional<std::string> parse_string() {
    if (!take("\"")) return std::nullopt;
    std::string result;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return result;
      if (static_cast<unsigned char>(c) < 0x20) return std::nullopt;
      if (c != '\\') {
        result += c;
      } else if (!parse_escape(result)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool parse_escape(std::string& result) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view values = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    if (const auto index = names.find(c); index != std::string_view::npos) {
      result += values[index];
      return true;
    }
    auto unit = c == 'u' ? parse_unit() : std::nullopt;
    if (!unit) return false;
    char32_t point = *unit;
    if (point >= 0xD800 && point < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const auto before = at_;
      at_ += 2;
      const auto low = parse_unit();
      if (!low) return false;
      if (*low >= 0xDC00 && *low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (*low - 0xDC00);
      } else {
        at_ = before;
      }
    }
    // Half of a character has no place in UTF-8.
    result += encode_utf8(std::u32string(1, point >= 0xD800 && point < 0xE000 ? U'\uFFFD' : point));
    return true;
  }

  std::optional<char32_t> parse_unit() {
    if (at_ + 4 > text_.size()) return std::nullopt;
    char32_t unit = 0;
    for (int digit = 0; digit < 4; ++digit) {
      const char c = text_[at_++];
      const bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!is_letter && (c < '0' || c > '9')) return std::nullopt;
      unit = unit * 16 + static_cast<char32_t>(is_letter ? (c | 0x20) - 'a' + 10 : c - '0');
    }
    return unit;
  }

  std::optional<Json> parse_number() {
    const auto start = at_;
    take("-");
    const auto whole = at_;
    if (!skip_digits() || (text_[whole] == '0' && at_ - whole > 1)) return std::nullopt;
    if (take(".") && !skip_digits()) return std::nullopt;
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      if (!skip_digits()) return std::nullopt;
    }
    // Independent of the locale of the program.
    std::istringstream stream{std::string(text_.substr(start, at_ - start))};
    stream.imbue(std::locale::classic());
    double number = 0;
    stream >> number;
    return Json(number);
  }

  bool skip_digits() {
    const auto start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > start;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool take_after_blanks(std::string_view word) {
    skip_blanks();
    return take(word);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string dump_string(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[7];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string dump_number(double number) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  const bool is_whole = std::trunc(number) == number && std::abs(number) < 1e17;
  if (is_whole) {
    stream << static_cast<std::int64_t>(number);
  } else {
    stream.precision(17);
    stream << number;
  }
  return std::isfinite(number) ? stream.str() : "null";
}

}  // namespace

std::optional<Json> Json::parse(std::string_view text) {
  return decode_utf8(text) ? Parser(text).parse_document() : std::nullopt;
}

std::string Json::dump() const {
  if (const auto* number = std::get_if<double>(&value_)) return dump_number(*number);
  if (const auto* text = std::get_if<std::string>(&value_)) return dump_string(*text);
  if (const auto* truth = std::get_if<bool>(&value_)) return *truth ? "true" : "false";
  std::string result;
  if (const auto* items = array()) {
    for (const auto& item : *items) result += (result.empty() ? "" : ",") + item.dump();
    return "[" + result + "]";
  }
  if (const auto* fields = object()) {
    for (const auto& [name, value] : *fields) {
      result += (result.empty() ? "" : ",") + dump_string(name) + ":" + value.dump();
    }
    return "{" + result + "}";
  }
  return "null";
}

const Json& Json::operator[](std::string_view name) const {
  static const Json nothing;
  if (const auto* fields = object()) {
    if (const auto found = fields->find(name); found != fields->end()) return found->second;
  }
  return nothing;
}

void Json::set(std::string_view name, Json value) {
  if (!is_object()) value_ = Object{};
  std::get<Object>(value_)[std::string(name)] = std::move(value);
}

std::optional<std::string> Json::text() const {
  const auto* text = std::get_if<std::string>(&value_);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::optional<bool> Json::boolean() const {
  const auto* truth = std::get_if<bool>(&value_);
  return truth == nullptr ? std::nullopt : std::optional(*truth);
}

std::optional<std::int64_t> Json::integer() const {
  const auto* number = std::get_if<double>(&value_);
  const bool is_exact = number != nullptr && std::trunc(*number) == *number && std::abs(*number) <= 9'007'199'254'740'991.0;
  return is_exact ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

/// Returns how many bytes follow the first one of a character; -1 if it is none.
static int count_more(unsigned char first) {
  if (first < 0x80) return 0;
  if (first < 0xC2 || first > 0xF4) return -1;
  return first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
}

std::optional<std::u32string> decode_utf8(std::string_view text) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const int more = count_more(first);
    if (more < 0 || text.size() - at < static_cast<std::size_t>(more)) return std::nullopt;
    char32_t point = more == 0 ? first : first & (0x3F >> more);
    for (int count = 0; count < more; ++count) {
      const auto next = static_cast<unsigned char>(text[at++]);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      point = (point << 6) | (next & 0x3F);
    }
    const bool is_overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    if (is_overlong || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return std::nullopt;
    result += point;
  }
  return result;
}

std::string encode_utf8(std::u32string_view text) {
  std::string result;
  for (const char32_t point : text) {
    const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    const char32_t lead = more == 0 ? 0 : (0xFF00u >> (more + 1)) & 0xFF;
    result += static_cast<char>(lead | (point >> (6 * more)));
    for (int left = more - 1; left >= 0; --left) result += static_cast<char>(0x80 | ((point >> (6 * left)) & 0x3F));
  }
  return result;
}

}  // namespace latchkey
