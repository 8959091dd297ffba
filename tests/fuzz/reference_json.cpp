#include "fuzz/reference_json.hpp"

#include <algorithm>
#include <cstdint>

namespace wallock::fuzz {
namespace {

constexpr int deepest = 200;

// Appends the character as UTF-8.
void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<ParsedJson> document() {
    ParsedJson parsed;
    space();
    if (!value(parsed.value, 0)) return std::nullopt;
    space();
    if (at_ != text_.size()) return std::nullopt;
    parsed.depth = deepest_seen_;
    return parsed;
  }

 private:
  [[nodiscard]] bool ended() const { return at_ == text_.size(); }
  [[nodiscard]] bool next_is(char c) const { return !ended() && text_[at_] == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void space() {
    while (!ended() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool value(Json& out, int depth) {
    if (next_is('{') || next_is('[')) {
      if (depth == deepest) return false;
      deepest_seen_ = std::max(deepest_seen_, depth + 1);
      return next_is('{') ? object(out, depth + 1) : array(out, depth + 1);
    }
    if (next_is('"')) {
      out.kind = Json::Kind::text;
      return string(out.text);
    }
    if (take_word("null")) return true;
    out.kind = Json::Kind::boolean;
    if (take_word("true") || take_word("false")) return true;
    out.kind = Json::Kind::number;
    return number(out.text);
  }

  bool object(Json& out, int depth) {
    out.kind = Json::Kind::object;
    at_ += 1;
    space();
    if (take('}')) return true;
    for (;;) {
      auto& [name, member] = out.members.emplace_back();
      space();
      if (!string(name)) return false;
      space();
      if (!take(':')) return false;
      space();
      if (!value(member, depth)) return false;
      space();
      if (take('}')) return true;
      if (!take(',')) return false;
    }
  }

  bool array(Json& out, int depth) {
    out.kind = Json::Kind::array;
    at_ += 1;
    space();
    if (take(']')) return true;
    for (;;) {
      space();
      if (!value(out.elements.emplace_back(), depth)) return false;
      space();
      if (take(']')) return true;
      if (!take(',')) return false;
    }
  }

  std::size_t digits() {
    std::size_t count = 0;
    for (; !ended() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      ++count;
    return count;
  }

  bool number(std::string& out) {
    const std::size_t start = at_;
    take('-');
    const bool zero = next_is('0');
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (take('.') && digits() == 0) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (digits() == 0) return false;
    }
    out = text_.substr(start, at_ - start);
    return true;
  }

  bool hex(std::uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i) {
      constexpr std::string_view lower = "0123456789abcdef";
      constexpr std::string_view upper = "0123456789ABCDEF";
      if (ended()) return false;
      const char c = text_[at_++];
      const std::size_t digit = std::min(lower.find(c), upper.find(c));
      if (digit == std::string_view::npos) return false;
      out = out << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }

  bool unicode_escape(std::string& out) {
    std::uint32_t code = 0;
    if (!hex(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return false;
    if (code >= 0xd800 && code <= 0xdbff) {
      std::uint32_t low = 0;
      if (!take_word("\\u") || !hex(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
    return true;
  }

  bool escape(std::string& out) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view values = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode_escape(out);
    const std::size_t which = ended() ? std::string_view::npos : names.find(text_[at_]);
    if (which == std::string_view::npos) return false;
    ++at_;
    out += values[which];
    return true;
  }

  bool string(std::string& out) {
    if (!take('"')) return false;
    const std::size_t start = at_;
    for (;;) {
      if (ended()) return false;
      if (next_is('"')) break;
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
      if (take('\\')) {
        if (!escape(out)) return false;
      } else {
        out += text_[at_++];
      }
    }
    const bool utf8 = is_utf8_reference(text_.substr(start, at_ - start));
    ++at_;
    return utf8;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int deepest_seen_ = 0;
};

}  // namespace

Json::Json() : kind(Kind::null) {}
Json::Json(Json&&) noexcept = default;
Json::~Json() = default;

bool is_utf8_reference(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    const int tails = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc0 || lead > 0xf7) return false;
    std::uint32_t code = lead & (0x3f >> tails);
    for (int k = 0; k < tails; ++k) {
      if (i == text.size()) return false;
      const auto tail = static_cast<unsigned char>(text[i++]);
      if ((tail & 0xc0) != 0x80) return false;
      code = code << 6 | (tail & 0x3f);
    }
    constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[tails] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
  }
  return true;
}

std::optional<ParsedJson> parse_reference(std::string_view document) {
  return Reader(document).document();
}

}  // namespace wallock::fuzz
