#include "counts.hpp"

#include "counting_vfs.hpp"
#include "statement_trace.hpp"

namespace wallock::bench {

Counting::Counting() {
  install_counting_vfs();
  install_statement_trace();
}

Counting::~Counting() {
  remove_statement_trace();
  remove_counting_vfs();
}

Counts Counting::now() const {
  const IoCounts io = io_counts();
  const StatementCounts sql = statement_counts();
  return Counts{.statements = sql.statements,
                .triggers = sql.triggers,
                .flushes = io.log_flushes,
                .checkpoint_flushes = io.checkpoint_flushes,
                .writes = io.log_writes,
                .bytes = io.log_bytes,
                .checkpoint_writes = io.database_writes,
                .checkpoint_bytes = io.database_bytes};
}

}  // namespace wallock::bench
