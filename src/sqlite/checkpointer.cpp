#include "sqlite/checkpointer.hpp"

#include <sqlite3.h>

#include <algorithm>

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
  if (checkpoint(session)) ++count_;
  next_at_ = std::max(usual_frames, frames_ + retry_frames);
}

bool Checkpointer::checkpoint(Session& session) noexcept {
  const Instant now = clock_.now();
  if (!connection_) {
    auto opened = Connection::open(path_, Access::write, clock_, now);
    if (!opened) return false;
    connection_ = *std::move(opened);
  }
  sqlite3* const guard = session.connection->handle();
  session.connection->set_deadline(now);
  connection_->set_deadline(now);
  if (auto ok = Query(guard, session.begin).run(); !ok) return false;
  const int result = sqlite3_wal_checkpoint_v2(connection_->handle(), "main",
                                               SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  const bool undone = Query(guard, session.rollback).run().has_value();
  if (result != SQLITE_OK) connection_.reset();
  return undone && result == SQLITE_OK;
}

}  // namespace wallock::sqlite
