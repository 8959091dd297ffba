#include "ledger/sha256.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace wallock::ledger {
namespace {

constexpr std::uint8_t leaf_prefix = 0x00;
constexpr std::uint8_t node_prefix = 0x01;

bool start(EVP_MD_CTX* context, const EVP_MD* algorithm) noexcept {
  return EVP_DigestInit_ex2(context, algorithm, nullptr) == 1;
}

bool update(EVP_MD_CTX* context, std::span<const std::uint8_t> data) noexcept {
  return data.empty() || EVP_DigestUpdate(context, data.data(), data.size()) == 1;
}

bool finish(EVP_MD_CTX* context, Digest::Bytes& out) noexcept {
  return EVP_DigestFinal_ex(context, out.data(), nullptr) == 1;
}

}  // namespace

void Sha256::Free::operator()(EVP_MD* algorithm) const noexcept { EVP_MD_free(algorithm); }
void Sha256::Free::operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }

Result<Sha256> Sha256::create() {
  Sha256 made;
  made.algorithm_.reset(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  made.context_.reset(EVP_MD_CTX_new());
  if (!made.algorithm_ || !made.context_) return fail(Errc::out_of_memory);
  // A provider may hand out an algorithm that it then refuses to run: see it now, not in mid-work.
  static_cast<void>(made.empty());
  if (made.failed_) return fail(Errc::out_of_memory);
  return made;
}

Digest Sha256::hash(std::span<const std::uint8_t> prefix,
                    std::span<const std::uint8_t> data) noexcept {
  Digest::Bytes out{};
  EVP_MD_CTX* context = context_.get();
  if (start(context, algorithm_.get()) && update(context, prefix) && update(context, data) &&
      finish(context, out)) {
    return Digest(out);
  }
  failed_ = true;
  return {};
}

Digest Sha256::digest(std::span<const std::uint8_t> data) noexcept { return hash({}, data); }

Digest Sha256::leaf(std::span<const std::uint8_t> data) noexcept {
  return hash({&leaf_prefix, 1}, data);
}

Digest Sha256::node(const Digest& left, const Digest& right) noexcept {
  std::array<std::uint8_t, 1 + 2 * Digest::size> data{node_prefix};
  std::copy(left.bytes().begin(), left.bytes().end(), data.begin() + 1);
  std::copy(right.bytes().begin(), right.bytes().end(), data.begin() + 1 + Digest::size);
  return digest(data);
}

Status Sha256::ok() const {
  if (failed_) return fail(Errc::out_of_memory);
  return {};
}

}  // namespace wallock::ledger
