// The payloads: real GitHub webhooks, one a line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace demo {

struct Webhook {
  std::string id;          // webhook-<event>-<index>: also the id of its action
  std::string repository;  // what has to be changed by one worker at a time
  std::string body;        // the JSON text, byte for byte as it stands in the file

  friend bool operator==(const Webhook&, const Webhook&) = default;
};

// Reads {"event":...,"index":...,"body":...} a line; an index counts within its event. Throws
// std::runtime_error naming the line that is not so.
[[nodiscard]] std::vector<Webhook> read_webhooks(const std::filesystem::path& file);

}  // namespace demo
