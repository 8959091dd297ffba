#include "webhooks.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace demo {

namespace {

using Json = nlohmann::json;

// The resource: the repository's full name, else the organisation's, else one name for the rest.
std::string repository_of(const Json& body) {
  if (const auto it = body.find("repository"); it != body.end() && it->is_object()) {
    return it->at("full_name").get<std::string>();
  }
  if (const auto it = body.find("organization"); it != body.end() && it->is_object()) {
    return it->at("login").get<std::string>();
  }
  return "no-repository";
}

// The body's own text: to parse and print it again would not give the same bytes.
std::string_view body_text(std::string_view line, const Json& parsed_body) {
  constexpr std::string_view key = ",\"body\":";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos || !line.ends_with('}')) {
    throw std::runtime_error("body is not the last member");
  }
  const std::string_view text = line.substr(at + key.size(), line.size() - at - key.size() - 1);
  if (Json::parse(text) != parsed_body) throw std::runtime_error("body is not the last member");
  return text;
}

Webhook parse_line(std::string_view line) {
  const Json json = Json::parse(line);
  const Json& body = json.at("body");
  const auto index = json.at("index").get<std::int64_t>();
  return Webhook{
      .id = "webhook-" + json.at("event").get<std::string>() + "-" + std::to_string(index),
      .repository = repository_of(body),
      .body = std::string(body_text(line, body))};
}

}  // namespace

std::vector<Webhook> read_webhooks(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read");
  std::vector<Webhook> webhooks;
  for (std::string line; std::getline(in, line);) {
    try {
      webhooks.push_back(parse_line(line));
    } catch (const std::exception& error) {
      throw std::runtime_error(file.string() + ", line " + std::to_string(webhooks.size() + 1) +
                               ": " + error.what());
    }
  }
  if (webhooks.empty()) throw std::runtime_error(file.string() + ": has no payloads");
  return webhooks;
}

}  // namespace demo
