// Postgres: a connection of libpq in pipeline mode, with prepared statements.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"

namespace wallock::bench {

using Words = std::vector<std::string>;

struct ClearResult {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using Rows = std::unique_ptr<PGresult, ClearResult>;

// A connection in pipeline mode: what is sent up to a sync is one transaction and, with several
// syncs in a row, one round trip.
class Postgres {
 public:
  explicit Postgres(const std::string& socket_folder)
      : connection_(
            PQconnectdb(("host=" + socket_folder + " user=postgres dbname=postgres").c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail();
  }

  void script(const std::string& sql) {
    const Rows result(PQexec(connection_.get(), sql.c_str()));
    check(result.get());
  }
  // Gives `sql` a name to send it by. Before the pipeline begins.
  void prepare(const char* name, const std::string& sql) {
    const Rows result(PQprepare(connection_.get(), name, sql.c_str(), 0, nullptr));
    check(result.get());
  }
  void begin_pipeline() {
    if (PQenterPipelineMode(connection_.get()) != 1) fail();
  }

  void send(const char* statement, const Words& values = {}) {
    std::vector<const char*> texts;
    for (const std::string& value : values)
      texts.push_back(value.c_str());
    if (PQsendQueryPrepared(connection_.get(), statement, static_cast<int>(texts.size()),
                            texts.data(), nullptr, nullptr, 0) != 1) {
      fail();
    }
  }
  // Ends a transaction.
  void sync() {
    if (PQpipelineSync(connection_.get()) != 1) fail();
  }
  // The rows of the next statement sent; ends the program if it failed.
  Rows rows() {
    Rows result(PQgetResult(connection_.get()));
    check(result.get());
    const Rows end(PQgetResult(connection_.get()));
    if (end) fail();
    return result;
  }
  // Waits for the end of a transaction.
  void synced() {
    const Rows result(PQgetResult(connection_.get()));
    if (PQresultStatus(result.get()) != PGRES_PIPELINE_SYNC) fail();
  }

 private:
  [[noreturn]] void fail() { give_up("postgres", PQerrorMessage(connection_.get())); }
  void check(const PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail();
  }

  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace wallock::bench
