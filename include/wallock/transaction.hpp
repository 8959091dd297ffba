// Transaction and Work: the application's own SQL inside a commit.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "wallock/result.hpp"
#include "wallock/token.hpp"

namespace wallock {

// The commit that is under way, as the application's work sees it: it can read and write the
// application's tables (through database(), wallock/sqlite.hpp), and can neither end the
// transaction nor touch tables whose names begin with "wallock_" nor change the connection.
//
// Thread safety: belongs to the thread that the work runs on.
// Lifetime: only during the work; neither it nor a statement of its database may be kept.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // The token this commit is fenced by: write it beside what the work changes, if other systems
  // are to check it.
  [[nodiscard]] FencingToken token() const noexcept { return token_; }

  // The backend's own handle; wallock/sqlite.hpp gives it its type.
  [[nodiscard]] void* native_handle() const noexcept { return native_handle_; }

 protected:
  Transaction(FencingToken token, void* native_handle) noexcept
      : token_(token), native_handle_(native_handle) {}
  ~Transaction() = default;

 private:
  FencingToken token_;
  void* native_handle_;
};

// What the application does inside a commit: a callable that takes a Transaction& or nothing and
// returns nothing or a Status. It runs on the calling thread, at most once per call, and not at all
// when the commit is refused or replayed. If it throws or returns an error, everything of the
// commit is rolled back; the caller gets work_failed, with the native code of the error returned
// (out_of_memory, if it threw std::bad_alloc).
class Work {
 public:
  // No work: the commit only records its actions.
  Work() = default;

  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Work> &&
             (std::invocable<F&, Transaction&> || std::invocable<F&>))
  Work(F&& work) : run_(wrap(std::forward<F>(work))) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(run_); }

  // Runs the work; lets its exceptions through.
  Status operator()(Transaction& transaction) const { return run_(transaction); }

 private:
  template <class F>
  static std::function<Status(Transaction&)> wrap(F&& work) {
    return [work = std::forward<F>(work)](Transaction& transaction) mutable -> Status {
      const auto call = [&]() -> decltype(auto) {
        if constexpr (std::invocable<decltype(work)&, Transaction&>) {
          return work(transaction);
        } else {
          return work();
        }
      };
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        return {};
      } else {
        return call();
      }
    };
  }

  std::function<Status(Transaction&)> run_;
};

// The error a work returns to roll its commit back: work_failed with a number of the application's
// own, which the caller of the commit finds in facts().native.
[[nodiscard]] inline Error work_error(int code) {
  return Error(Errc::work_failed, ErrorFacts{.native = code});
}

}  // namespace wallock
