#include "host/lifeline.hpp"

#include <exception>
#include <new>
#include <utility>

#include "host/membership.hpp"
#include "host/process.hpp"
#include "host/sidecar_layout.hpp"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace wallock::host {

#if defined(__linux__)

// For the kernel to walk at the end of the thread: a head, and one node whose word lies at the
// head's offset from it.
struct Lifeline::List {
  explicit List(SharedWord& word) noexcept {
    head.list.next = &node;
    node.next = &head.list;
    head.futex_offset = static_cast<long>(reinterpret_cast<std::uintptr_t>(&word) -
                                          reinterpret_cast<std::uintptr_t>(&node));
  }

  robust_list_head head{};
  robust_list node{};
};

namespace {

constexpr std::uint32_t thread_bits = FUTEX_TID_MASK;
constexpr std::uint32_t stopped_bit = FUTEX_OWNER_DIED;

// The value that means this thread to the kernel, which wakes nobody without the other bit. 0 where
// it will not tell.
std::uint32_t own_value(robust_list_head& head) noexcept {
  if (syscall(SYS_set_robust_list, &head, sizeof head) != 0) return 0;
  return static_cast<std::uint32_t>(syscall(SYS_gettid)) | FUTEX_WAITERS;
}

}  // namespace

// The list comes before the word: a word that beats is one that the kernel knows of. An opening
// that lost its descriptors may have lost its place, and with it the word, to another by now.
void Lifeline::run() noexcept {
  const std::uint32_t own = own_value(list_->head);
  std::uint32_t expected = 0;
  word_.compare_exchange_strong(expected, own);
  is_over_.wait(false);
  expected = own;
  word_.compare_exchange_strong(expected, 0);
}

#else

struct Lifeline::List {
  explicit List(SharedWord&) noexcept {}
};

namespace {
constexpr std::uint32_t thread_bits = 0;
constexpr std::uint32_t stopped_bit = 0;
}  // namespace

void Lifeline::run() noexcept {}

#endif

Lifeline::Lifeline(MembershipLayout& layout, const Membership& members) noexcept
    : word_(layout.places[members.own()].life), members_(members) {}

Lifeline::~Lifeline() {
  if (!thread_.joinable()) return;
  if (members_.forked()) {
    // It is not here, and nothing of it must be touched.
    abandon(new (std::nothrow) std::thread(std::move(thread_)));
    return;
  }
  is_over_ = true;
  is_over_.notify_one();
  thread_.join();
}

// Without memory or a thread the word stays as it is.
void Lifeline::start() noexcept {
  if (is_started_.load(std::memory_order_relaxed) || members_.forked()) return;
  if (is_started_.exchange(true)) return;
  try {
    list_ = std::make_unique<List>(word_);
    const BlockedSignals blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    return;
  }
}

bool Pulse::beats() const noexcept { return (seen & thread_bits) != 0; }

bool Pulse::has_stopped() const noexcept { return !beats() && (seen & stopped_bit) != 0; }

}  // namespace wallock::host
