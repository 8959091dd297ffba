// OpenSSL that fails: a SHA-256 that refuses a step of its work, and a generator without bytes.
#pragma once

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

#include "catch.hpp"
#include "wallock/digest.hpp"

namespace wallock::test::openssl {

// A provider whose SHA-256 refuses one step of its work. Its digests are 32 bytes of 0x5a.
enum class Step : int { none, context, start, update, finish };
inline std::atomic<Step> refused{Step::none};

inline int allows(Step step) { return refused.load() == step ? 0 : 1; }

inline void* new_context(void* /*provider*/) {
  static int context = 0;
  return allows(Step::context) != 0 ? &context : nullptr;
}
inline void free_context(void* /*context*/) {}
inline int start(void* /*context*/, const OSSL_PARAM* /*params*/) { return allows(Step::start); }
inline int update(void* /*context*/, const unsigned char* /*data*/, std::size_t /*size*/) {
  return allows(Step::update);
}
inline int finish(void* /*context*/, unsigned char* out, std::size_t* size, std::size_t /*room*/) {
  std::fill_n(out, Digest::size, static_cast<unsigned char>(0x5a));
  *size = Digest::size;
  return allows(Step::finish);
}
inline int describe(OSSL_PARAM* params) {
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

inline const OSSL_ALGORITHM* algorithms(void* /*provider*/, int operation, int* no_cache) {
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

inline int make_provider(const OSSL_CORE_HANDLE* handle, const OSSL_DISPATCH* /*core*/,
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
    // Preferred where it has something: random bytes come from where they always come from.
    REQUIRE(EVP_set_default_properties(nullptr, "?provider=wallock-test") == 1);
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

inline int no_bytes(unsigned char* /*out*/, int /*size*/) { return 0; }

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

}  // namespace wallock::test::openssl
