#include "sqlite/open_repository.hpp"

#include <sqlite3.h>

#include <new>

#include "host/creation_lock.hpp"
#include "host/filesystem.hpp"
#include "host/open_paths.hpp"
#include "host/side_files.hpp"
#include "host/sidecar_file.hpp"
#include "sqlite/repository.hpp"
#include "sqlite/schema.hpp"
#include "sqlite/work_runner.hpp"

namespace wallock::sqlite {
namespace {

Result<std::unique_ptr<Session>> open_session(const std::string& path, const Options& options,
                                              const Clock& clock, Instant deadline) {
  auto hasher = ledger::Sha256::create();
  if (!hasher) return fail(hasher.error());
  auto connection = Connection::open(path, Access::create, clock, deadline);
  if (!connection) return fail(connection.error());
  auto session = std::make_unique<Session>(*std::move(connection), *std::move(hasher));
  const auto had_wal = session->connection->has_wal();
  if (!had_wal) return fail(had_wal.error());
  if (auto ok = session->connection->use_wal(); !ok) return fail(ok.error());
  if (auto ok = prepare_schema(*session, clock, options.adopt_restored); !ok) {
    // An application's file that is not to be a store goes back to what it was.
    if (!*had_wal) session->connection->leave_wal();
    return fail(ok.error());
  }
  return session;
}

// Nothing that the store is for depends on the sidecar: without it processes poll.
std::shared_ptr<host::Sidecar> open_sidecar(const std::string& path, InstanceId instance,
                                            const Clock& clock, Instant deadline) {
  auto sidecar = host::Sidecar::open(path, static_cast<std::uint64_t>(instance), clock, deadline);
  if (!sidecar) return nullptr;
  return *std::move(sidecar);
}

// Flushes once: what others, who are gone, left in the log may be visible and not durable. Were
// that a raised epoch, a power cut would take it back, and its tokens came again.
Result<std::unique_ptr<Flusher>> open_flusher(const std::string& path, const Neighbours& neighbours,
                                              const Clock& clock, Instant deadline) {
  auto flusher = Flusher::open(path, clock, deadline);
  if (!flusher) return flusher;
  if ((*flusher)->flush(0, neighbours.flush_line()) != Flusher::Flushed::flushed) {
    return fail(Error(Errc::io_error, ErrorFacts{.native = SQLITE_IOERR_FSYNC}));
  }
  return flusher;
}

// The caller holds the creation lock: the switch to WAL and the migrations are for one process.
Result<OpenedRepository> open_locked(const std::string& path, const Options& options,
                                     const std::shared_ptr<host::Sidecar>& sidecar,
                                     Instant deadline, const std::shared_ptr<const Clock>& clock) {
  auto session = open_session(path, options, *clock, deadline);
  if (!session) return fail(session.error());
  auto reader = Reader::open(path, clock, options.operation_timeout);
  if (!reader) return fail(reader.error());
  Neighbours neighbours(sidecar);
  auto flusher = open_flusher(path, neighbours, *clock, deadline);
  if (!flusher) return fail(flusher.error());
  return OpenedRepository{
      std::make_unique<Repository>(path, *std::move(session), *std::move(reader),
                                   std::move(neighbours), *std::move(flusher), options, clock),
      sidecar};
}

// What it made beside a file that it then refuses goes with it.
Result<OpenedRepository> open_at(const std::string& path, const Options& options,
                                 InstanceId instance, const std::shared_ptr<const Clock>& clock) {
  const Instant deadline = saturating_add(clock->now(), options.operation_timeout);
  const bool was_there = host::is_sidecar_there(path);
  auto sidecar = open_sidecar(path, instance, *clock, deadline);
  auto lock = host::CreationLock::acquire(path, *clock, deadline);
  if (!lock) return fail(lock.error());
  auto opened = open_locked(path, options, sidecar, deadline, clock);
  if (!opened && !was_there) {
    sidecar.reset();
    lock->remove_unused_file();
  }
  return opened;
}

// The path of the store, resolved, if one may lie there. Makes nothing.
Result<std::string> check_place(std::string_view path) {
  if (auto ok = host::check_spelling(path); !ok) return fail(ok.error());
  if (auto ok = host::check_local(path); !ok) return fail(ok.error());
  auto real_path = host::resolve(path);
  if (!real_path) return real_path;
  if (auto ok = host::check_database_file(*real_path); !ok) return fail(ok.error());
  if (auto ok = host::check_side_files(*real_path); !ok) return fail(ok.error());
  if (auto ok = host::check_access(*real_path); !ok) return fail(ok.error());
  if (host::is_inherited(*real_path)) return fail(Errc::forked_handle);
  if (WorkScope::is_inside(*real_path)) return fail(Errc::called_inside_work);
  return real_path;
}

}  // namespace

Result<OpenedRepository> open_repository(std::string_view path, const Options& options,
                                         InstanceId instance,
                                         const std::shared_ptr<const Clock>& clock) {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return fail(invalid(Errc::invalid_option, "path"));
  }
  // Without mutexes in the library, connections in different threads would share its globals.
  if (sqlite3_threadsafe() == 0) return fail(invalid(Errc::setting_refused, "threadsafe"));
  try {
    const auto real_path = check_place(path);
    if (!real_path) return fail(real_path.error());
    const host::OpenPath opening(*real_path);  // until the repository says so itself
    return open_at(*real_path, options, instance, clock);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory);
  }
}

}  // namespace wallock::sqlite
