// What the ledger does when OpenSSL fails: nothing is ever hashed wrong or filled with zeros
// unseen.
#define OPENSSL_SUPPRESS_DEPRECATED  // RAND_set_rand_method is the one way to a generator that
                                     // fails

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "catch.hpp"
#include "ledger/random.hpp"
#include "ledger/sha256.hpp"
#include "ledger_support.hpp"

namespace wallock::ledger {
namespace {

// A provider whose SHA-256 refuses one step of its work. Its digests are 32 bytes of 0x5a.
enum class Step : int { none, context, start, update, finish };
std::atomic<Step> refused{Step::none};

int allows(Step step) { return refused.load() == step ? 0 : 1; }

void* new_context(void* /*provider*/) {
  static int context = 0;
  return allows(Step::context) != 0 ? &context : nullptr;
}
void free_context(void* /*context*/) {}
int start(void* /*context*/, const OSSL_PARAM* /*params*/) { return allows(Step::start); }
int update(void* /*context*/, const unsigned char* /*data*/, std::size_t /*size*/) {
  return allows(Step::update);
}
int finish(void* /*context*/, unsigned char* out, std::size_t* size, std::size_t /*room*/) {
  std::fill_n(out, Digest::size, static_cast<unsigned char>(0x5a));
  *size = Digest::size;
  return allows(Step::finish);
}
int describe(OSSL_PARAM* params) {
  if (OSSL_PARAM* const size = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_SIZE)) {
    OSSL_PARAM_set_size_t(size, Digest::size);
  }
  if (OSSL_PARAM* const block = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_BLOCK_SIZE)) {
    OSSL_PARAM_set_size_t(block, 64);
  }
  return 1;
}

template <class F>
OSSL_DISPATCH entry(int id, F* function) {
  return {id, reinterpret_cast<void (*)()>(function)};
}

const OSSL_ALGORITHM* algorithms(void* /*provider*/, int operation, int* no_cache) {
  static const std::array digest{entry(OSSL_FUNC_DIGEST_NEWCTX, new_context),
                                 entry(OSSL_FUNC_DIGEST_FREECTX, free_context),
                                 entry(OSSL_FUNC_DIGEST_INIT, start),
                                 entry(OSSL_FUNC_DIGEST_UPDATE, update),
                                 entry(OSSL_FUNC_DIGEST_FINAL, finish),
                                 entry(OSSL_FUNC_DIGEST_GET_PARAMS, describe),
                                 OSSL_DISPATCH{0, nullptr}};
  static const std::array all{
      OSSL_ALGORITHM{"SHA256", "provider=wallock-test", digest.data(), nullptr},
      OSSL_ALGORITHM{nullptr, nullptr, nullptr, nullptr}};
  *no_cache = 0;
  return operation == OSSL_OP_DIGEST ? all.data() : nullptr;
}

int make_provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* /*core*/,
                  const OSSL_DISPATCH** own, void** provider) {
  static const std::array functions{entry(OSSL_FUNC_PROVIDER_QUERY_OPERATION, algorithms),
                                    OSSL_DISPATCH{0, nullptr}};
  *own = functions.data();
  *provider = const_cast<OSSL_CORE_HANDLE*>(handle);
  return 1;
}

// While it lives, SHA-256 comes from that provider.
class BrokenProvider {
 public:
  BrokenProvider() {
    refused = Step::none;
    REQUIRE(OSSL_PROVIDER_add_builtin(nullptr, "wallock-test", make_provider) == 1);
    // Or the first provider that is loaded by hand would be the only one.
    own_ = OSSL_PROVIDER_try_load(nullptr, "wallock-test", 1);
    REQUIRE(own_ != nullptr);
    REQUIRE(EVP_set_default_properties(nullptr, "provider=wallock-test") == 1);
  }
  BrokenProvider(const BrokenProvider&) = delete;
  BrokenProvider& operator=(const BrokenProvider&) = delete;
  ~BrokenProvider() {
    EVP_set_default_properties(nullptr, "");
    OSSL_PROVIDER_unload(own_);
  }

 private:
  OSSL_PROVIDER* own_ = nullptr;
};

int no_bytes(unsigned char* /*out*/, int /*size*/) { return 0; }

// While it lives, OpenSSL's generator gives nothing.
class DryGenerator {
 public:
  DryGenerator() { REQUIRE(RAND_set_rand_method(&method_) == 1); }
  DryGenerator(const DryGenerator&) = delete;
  DryGenerator& operator=(const DryGenerator&) = delete;
  ~DryGenerator() { RAND_set_rand_method(nullptr); }

 private:
  const RAND_METHOD method_{nullptr, no_bytes, nullptr, nullptr, no_bytes, nullptr};
};

TEST_CASE("SHA-256 that OpenSSL does not give out is an error, not a hash") {
  REQUIRE(EVP_set_default_properties(nullptr, "provider=nobody") == 1);
  const auto refused_one = Sha256::create();
  REQUIRE(EVP_set_default_properties(nullptr, "") == 1);
  REQUIRE_FALSE(refused_one);
  CHECK(refused_one.error().code() == Errc::out_of_memory);
  CHECK(Sha256::create());  // the twin
}

TEST_CASE("SHA-256 that cannot run is seen when it is made") {
  const BrokenProvider provider;
  for (const Step step : {Step::context, Step::start, Step::finish}) {
    refused = step;
    const auto made = Sha256::create();
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == Errc::out_of_memory);
  }
  refused = Step::none;
  CHECK(Sha256::create());  // the twin
}

TEST_CASE("SHA-256 that fails in mid-work answers the zero digest and says so for good") {
  const BrokenProvider provider;
  const std::array<std::uint8_t, 3> data{1, 2, 3};
  for (const Step step : {Step::start, Step::update, Step::finish}) {
    refused = Step::none;
    auto hasher = Sha256::create().value();
    CHECK(hasher.digest(data) != Digest());
    CHECK(hasher.leaf(data) != Digest());
    CHECK(hasher.ok());
    refused = step;
    CHECK(hasher.digest(data) == Digest());
    CHECK(hasher.leaf(data) == Digest());
    CHECK(hasher.node(Digest(), Digest()) == Digest());
    refused = Step::none;
    CHECK(hasher.leaf(data) != Digest());
    const Status status = hasher.ok();
    REQUIRE_FALSE(status);
    CHECK(status.error().code() == Errc::out_of_memory);
  }
}

TEST_CASE("the random source hands out nothing when OpenSSL's generator fails") {
  RandomSource source;
  std::array<std::uint8_t, 16> salt{};
  std::array<std::uint8_t, 8> half{};
  std::vector<std::uint8_t> large(5000);
  REQUIRE(source.fill(salt));
  REQUIRE(source.fill(half));
  {
    const DryGenerator dry;
    CHECK_FALSE(fill_random(salt));
    CHECK_FALSE(source.fill(large));
    // What is left of its last refill as long as it suffices, and nothing once a refill failed.
    for (std::size_t left = (1024 - 16 - 8) / 16; left > 0; --left)
      CHECK(source.fill(salt));
    CHECK_FALSE(source.fill(salt));
    CHECK_FALSE(source.fill(half));
  }
  CHECK(source.fill(salt));  // the twin
  CHECK(source.fill(large));
}

}  // namespace
}  // namespace wallock::ledger
