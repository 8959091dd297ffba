// Sha256: SHA-256 (FIPS 180-4) by OpenSSL, in the three uses that a Merkle tree makes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "wallock/digest.hpp"
#include "wallock/ledger/merkle.hpp"
#include "wallock/result.hpp"

// OpenSSL's own types, named here so that its headers stay in the source file.
struct evp_md_st;
struct evp_md_ctx_st;

namespace wallock::ledger {

// One fetched algorithm and one context, used again for every hash: half the cost of the one-shot
// calls. Models TreeHasher.
//
// Hashing practically cannot fail once create() succeeded. If it does, the answer is the all-zero
// digest and ok() turns false for good: ask ok() before a digest is stored or an answer is built
// on one.
//
// Movable (only destroy or assign what was moved from), not copyable. Not thread-safe: one per
// user. Works on in a forked child.
class Sha256 {
 public:
  // out_of_memory (transient) if OpenSSL gives no SHA-256 or no context.
  [[nodiscard]] static Result<Sha256> create();

  // SHA-256(data).
  [[nodiscard]] Digest digest(std::span<const std::uint8_t> data) noexcept;
  // SHA-256(0x00 || data), SHA-256(0x01 || left || right) and SHA-256(): RFC 9162 section 2.1.1.
  [[nodiscard]] Digest leaf(std::span<const std::uint8_t> data) noexcept;
  [[nodiscard]] Digest node(const Digest& left, const Digest& right) noexcept;
  [[nodiscard]] Digest empty() noexcept { return digest({}); }

  // out_of_memory (transient) if any hash of this object failed.
  [[nodiscard]] Status ok() const;

 private:
  struct Free {
    void operator()(evp_md_st* algorithm) const noexcept;
    void operator()(evp_md_ctx_st* context) const noexcept;
  };

  Sha256() = default;
  // SHA-256(prefix || data).
  [[nodiscard]] Digest hash(std::span<const std::uint8_t> prefix,
                            std::span<const std::uint8_t> data) noexcept;

  std::unique_ptr<evp_md_st, Free> algorithm_;
  std::unique_ptr<evp_md_ctx_st, Free> context_;
  bool failed_ = false;
};

static_assert(TreeHasher<Sha256>);

}  // namespace wallock::ledger
