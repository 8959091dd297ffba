#include "sqlite/checkpointer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <new>

#include "sqlite/sql_error.hpp"

namespace wallock::sqlite {
namespace {

constexpr std::uint64_t usual_frames = 2000;
// After a checkpoint that a reader held back, so that not every commit tries again.
constexpr std::uint64_t retry_frames = 250;

}  // namespace

void Checkpointer::watch(Session& session) noexcept {
  sqlite3_wal_hook(session.connection->handle(), &Checkpointer::on_wal, this);
  next_at_ = usual_frames;
}

int Checkpointer::on_wal(void* self, sqlite3* /*db*/, const char* /*name*/, int frames) {
  auto& checkpointer = *static_cast<Checkpointer*>(self);
  checkpointer.frames_ = static_cast<std::uint64_t>(frames);
  ++checkpointer.writes_;
  return SQLITE_OK;
}

void Checkpointer::after_commit(Session& session) noexcept {
  if (frames_ < usual_frames) next_at_ = usual_frames;
  if (frames_ < next_at_) return;
  if (has_checkpointed(session)) ++count_;
  next_at_ = std::max(usual_frames, frames_ + retry_frames);
}

bool Checkpointer::has_checkpointed(Session& session) noexcept {
  try {
    return checkpoint(session).has_value();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Status Checkpointer::checkpoint(Session& session) {
  const Instant now = clock_.now();
  if (!connection_) {
    auto opened = Connection::open(path_, Access::write, clock_, now);
    if (!opened) return fail(opened.error());
    connection_ = *std::move(opened);
  }
  sqlite3* const guard = session.connection->handle();
  session.connection->set_deadline(now);
  connection_->set_deadline(now);
  if (auto ok = Query(guard, session.begin).run(); !ok) return ok;
  const int result = sqlite3_wal_checkpoint_v2(connection_->handle(), "main",
                                               SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  auto undone = Query(guard, session.rollback).run();
  if (result != SQLITE_OK) {
    connection_.reset();
    return fail(sql_error(result));
  }
  return undone;
}

}  // namespace wallock::sqlite
