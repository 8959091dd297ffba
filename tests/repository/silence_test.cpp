// What comes out of the library on its own: nothing of a payload, and nothing to any stream.
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "ledger/sha256.hpp"
#include "repository_support.hpp"
#include "wallock/hex.hpp"
#include "wallock/json.hpp"
#include "wallock/ledger/bytes.hpp"

namespace wallock::test {
namespace {

const std::string secret = "card-4111111111111111";

// Everything that the library gives out as text about a store that carries secrets.
std::vector<std::string> all_texts(Coordinator& store) {
  std::vector<std::string> texts;
  const auto note = [&](const auto& value) { texts.emplace_back(to_string(value)); };
  const auto fields = sent("pay-1", secret);
  const auto request = ActionRequest::create(fields).value();
  note(request);
  const auto lease = store.acquire("r", by("ann")).value();
  note(lease);
  const auto committed = store.commit(lease, fields).value();
  for (const ActionResult& result : committed.results()) {
    note(result);
    texts.push_back(encode_json(result));
  }
  texts.push_back(encode_json(lease));
  note(store.commit(lease, sent("pay-2", secret)).error());
  note(store.commit(lease, sent("pay-1", secret + "0")).error());
  const auto delivery = store.claim({.destination = "bank"}).value().at(0);
  note(delivery);
  note(store.settle(delivery, DeliveryOutcome::delivered()).value());
  const auto records = store.audit().value();
  for (const AuditRecord& record : records) {
    note(record);
    texts.push_back(encode_json(record));
  }
  note(store.root().value());
  texts.push_back(encode_json(store.breaker("r").value()));
  return texts;
}

// Sends what is written to stdout and stderr into a file, for as long as it lives.
class Captured {
 public:
  explicit Captured(const std::string& path) {
    std::fflush(nullptr);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i : {0, 1}) {
      kept_[i] = dup(i + 1);
      dup2(file, i + 1);
    }
    close(file);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    std::fflush(nullptr);
    for (int i : {0, 1}) {
      dup2(kept_[i], i + 1);
      close(kept_[i]);
    }
  }

 private:
  int kept_[2] = {};
};

}  // namespace

TEST_CASE("INV-09 no text of the library and no export of the ledger shows a payload") {
  TempStore at;
  auto store = at.open();
  auto hasher = ledger::Sha256::create().value();
  const std::string plain_hash = to_string(hasher.digest(ledger::as_bytes(secret)));
  for (const std::string& text : all_texts(store)) {
    CAPTURE(text);
    CHECK(text.find(secret) == std::string::npos);
    CHECK(text.find("4111") == std::string::npos);
    CHECK(text.find(encode_hex(ledger::as_bytes(secret))) == std::string::npos);
    // Nor a hash that a payload could be guessed by: the digest is salted.
    CHECK(text.find(plain_hash) == std::string::npos);
  }
}

TEST_CASE("the sidecar holds no name and no payload") {
  TempStore at;
  auto store = at.open();
  auto options = by("holder-of-it");
  options.metadata = "metadata-of-it";
  const auto lease = store.acquire("resource-of-it", options).value();
  static_cast<void>(store.acquire("resource-of-it", {.wait = 1ms, .holder = "other"}));
  REQUIRE(answer(store.commit(lease, sent("action-of-it", secret))) == "ok");
  const std::string sidecar = read_file(at.path() + "-wallock");
  REQUIRE_FALSE(sidecar.empty());
  CHECK(sidecar.find("-of-it") == std::string::npos);
  CHECK(sidecar.find(secret) == std::string::npos);
}

TEST_CASE("the library writes to no stream, whatever goes wrong") {
  TempStore at;
  std::string words;
  {
    const Captured captured(at.folder.file("output"));
    auto store = at.open();
    words = std::to_string(all_texts(store).size());
    auto raw = at.raw();
    raw.must("DROP TABLE wallock_payloads");
    words += answer(store.execute("s", recorded("a")));
    words += answer(Coordinator::open(at.folder.path().string(), at.options()));
    write_file(at.folder.file("junk.db"), std::string(5000, 'j'));
    words += answer(Coordinator::open(at.folder.file("junk.db"), at.options()));
    words += answer(store.verify());
  }
  CAPTURE(words);
  CHECK(words.find("ok") == std::string::npos);
  CHECK(read_file(at.folder.file("output")).empty());
}

}  // namespace wallock::test
