// The scenarios, and what they start from.
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "steps.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;
using enum DownstreamOutcome;

const CommitSpec keeps{.after = AfterCommit::keep};
const CommitSpec releases{.after = AfterCommit::release};
const CommitSpec sends{.sent = true};
const CommitSpec repeats{.repeats = true};

const auto delivered = DeliveryOutcome::delivered();
const auto again = DeliveryOutcome::retry(1s);
const auto reject = DeliveryOutcome::reject();

std::vector<Scenario> of_stores() {
  return {
      {"a new store", {opened(), closed()}, true},
      {"a new store at work",
       {opened(), acquired("r"), committed("r", {"a"}), released("r"), closed()},
       true},
      {"a store opened again",
       {opened(), executed("r", {"a"}), closed(), opened(), executed("r", {"b"}), closed()}},
      {"two openings",
       {opened(), opened_twice(), acquired("r", "ann"), swapped(),
        refused(acquired("r", "bob"), Errc::lease_held), executed("s", {"a"}), swapped(),
        committed("r", {"b"}), swapped(), executed("s", {"c"}), closed()}},
      {"a restart",
       {opened(), executed("s", {"a"}, sends), acquired("r"), claimed(1, 1), closed(),
        restarted("boot-2"), opened(), refused(committed("r", {"b"}), Errc::stale_token),
        acquired("r", "bob"), claimed(1, 1), settled(delivered), committed("r", {"c"}), closed()}},
      {"a restored copy",
       {opened(), acquired("r"), committed("r", {"a"}), closed(), opened_restored(),
        refused(committed("r", {"b"}), Errc::stale_token), executed("r", {"c"}), closed()}},
  };
}

std::vector<Scenario> of_leases() {
  return {
      {"acquire and release",
       {opened(), acquired("r"), released("r"), acquired("r", "bob"), released("r"), closed()}},
      {"renewals",
       {opened(), acquired("r"), renewed("r"), passed(5s), renewed("r"), released("r"), closed()}},
      {"an acquire by id, repeated",
       {opened(), acquired("r", "ann", "id"), acquired("r", "ann", "id"), committed("r", {"a"}),
        released("r"), refused(acquired("r", "ann", "id"), Errc::request_spent), closed()}},
      {"an expired lease, taken over",
       {opened(), acquired("r", "ann"), passed(11s), acquired("r", "bob"), committed("r", {"a"}),
        released("r"), closed()}},
      {"a revoked lease",
       {opened(), acquired("r"), revoked("r"), refused(committed("r", {"a"}), Errc::stale_token),
        acquired("r", "bob"), committed("r", {"b"}), closed()}},
      {"several leases at once",
       {opened(), acquired_all({"t", "r", "s"}),
        refused(acquired_all({"u", "t"}), Errc::already_held), committed("s", {"a"}), released("r"),
        acquired_all({"u", "r"}), closed()}},
      {"readings",
       {opened(), executed("r", {"a"}, sends), acquired("s"), looked("r"), released("s"),
        looked("s"), closed()}},
      {"refusals",
       {opened(), acquired("r"), refused(acquired("r"), Errc::already_held),
        refused(acquired("r", "bob"), Errc::lease_held), committed("r", {"a"}),
        refused(committed("r", {"b"}), Errc::stale_token),
        refused(executed("s", {"a"}), Errc::action_conflict),
        refused(executed("s", {"a", "b"}), Errc::action_conflict), closed()}},
  };
}

Scenario many_commits() {
  Scenario scenario{"commits until the log is emptied", {opened()}, false, 512};
  for (int i = 0; i < 90; ++i)
    scenario.steps.push_back(executed("r", {"a" + std::to_string(i)}));
  scenario.steps.push_back(closed());
  return scenario;
}

// Each of them longer than the one before: who copies them needs memory for each.
Names growing(std::size_t count) {
  Names names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(std::string(20 + 15 * i, 'n'));
  return names;
}

std::vector<Scenario> of_commits() {
  return {
      {"a commit", {opened(), acquired("r"), committed("r", {"a"}), released("r"), closed()}},
      {"a commit of ten",
       {opened(), acquired("r"), committed("r", growing(10)), released("r"), closed()}},
      {"a commit of fourteen",
       {opened(), acquired("r"), committed("r", growing(14), sends), claimed(1, 1),
        settled(delivered), closed()}},
      {"commits that keep the lease",
       {opened(), acquired("r"), committed("r", {"a"}, keeps), committed("r", {"b"}, keeps),
        committed("r", {"c"}), released("r"), closed()}},
      {"a commit that releases",
       {opened(), acquired("r"), committed("r", {"a"}, releases), acquired("r", "bob"), closed()}},
      {"executes",
       {opened(), executed("r", {"a"}), executed("s", {"b", "c"}), executed("r", {"d"}), closed()}},
      {"replays",
       {opened(), acquired("r"), committed("r", {"a", "b"}), committed("r", {"a", "b"}, repeats),
        executed("s", {"c"}), executed("s", {"c"}, repeats), closed()}},
      {"large payloads",
       {opened(), executed("r", {"a"}, {.payload = 20'000}), acquired("r"),
        committed("r", {"b", "c"}, {.sent = true, .payload = 9'000}), closed()}},
      many_commits(),
  };
}

std::vector<Scenario> of_outboxes() {
  return {
      {"deliveries",
       {opened(), executed("r", {"a"}, sends), executed("s", {"b"}, sends), claimed(5, 2),
        settled(delivered), settled(delivered), closed()}},
      {"a delivery tried again",
       {opened(), executed("r", {"a"}, sends), claimed(1, 1), settled(again), claimed(1, 0),
        passed(2s), claimed(1, 1), settled(delivered), closed()}},
      {"deliveries in line",
       {opened(), executed("r", {"a", "b", "c"}, sends), claimed(5, 1), settled(delivered),
        claimed(5, 1), settled(reject), claimed(5, 1), settled(delivered), closed()}},
      {"attempts used up",
       {opened(), executed("r", {"a"}, sends), claimed(1, 1), settled(again), passed(2s),
        claimed(1, 1), settled(again), passed(2s), claimed(1, 0), closed()}},
      {"a claim taken over",
       {opened(), executed("r", {"a"}, sends), claimed(1, 1), passed(6s), claimed(1, 1),
        settled(delivered), closed()}},
  };
}

std::vector<Scenario> of_breakers() {
  return {
      {"a breaker that trips and recovers",
       {opened(), acquired("r"), reported("r", timeout), reported("r", success),
        reported("r", timeout), reported("r", timeout),
        refused(committed("r", {"a"}), Errc::breaker_open), reported("r", timeout), passed(11s),
        probed("r"), recovered("r", true), executed("r", {"b"}), closed()}},
      {"probes in vain",
       {opened(), acquired("r"), reported("r", timeout), reported("r", timeout), passed(11s),
        probed("r"), recovered("r", false), passed(30s), probed("r"), passed(60s), probed("r"),
        recovered("r", true), closed()}},
      {"a breaker held open",
       {opened(), acquired("r"), forced("r"), refused(probed("r"), Errc::breaker_open),
        unforced("r"), passed(11s), probed("r"), recovered("r", true), executed("r", {"a"}),
        closed()}},
  };
}

std::string scratch_template() {
  std::error_code ignored;
  const std::filesystem::path memory("/dev/shm");
  const auto root = std::filesystem::is_directory(memory, ignored)
                        ? memory
                        : std::filesystem::canonical(std::filesystem::temp_directory_path());
  return (root / "wallock-faults-XXXXXX").string();
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> every;
    for (const auto& part : {of_stores(), of_leases(), of_commits(), of_outboxes(), of_breakers()})
      every.insert(every.end(), part.begin(), part.end());
    return every;
  }();
  return all;
}

Stage::Stage(std::string where, Durability durability) : folder(std::move(where)) {
  options.durability = durability;
  options.clock = clock;
  // Lets a lock that is never free end a call soon: on this clock, waiting moves the time.
  options.operation_timeout = 5ms;
  options.breaker = {.trip_after = 2, .first_interval = 10s, .max_interval = 60s};
  options.delivery.max_attempts = 2;
}

const std::string& empty_store(int page_size) {
  static std::map<int, std::string> made;
  std::string& content = made[page_size];
  if (!content.empty()) return content;
  const ScratchFolder folder;
  Stage stage(folder.path(), Durability::relaxed);
  RawDatabase(stage.path())
      .must("PRAGMA page_size=" + std::to_string(page_size) +
            "; CREATE TABLE app (action TEXT PRIMARY KEY, token INTEGER)");
  Coordinator::open(stage.path(), stage.options).value();
  content = read_file(stage.path());
  return content;
}

Image set_up(const Scenario& scenario, const Stage& stage) {
  if (scenario.is_new) return {};
  Image image{{"store.db", empty_store(scenario.page_size)}};
  write_file(stage.path(), image.at("store.db"));
  return image;
}

ScratchFolder::ScratchFolder() : path_(scratch_template()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no scratch folder");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void ScratchFolder::clear() const {
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.path().string() != sidecar()) std::filesystem::remove(entry.path());
  }
}

void ScratchFolder::age_sidecar(std::uint64_t seed) const {
  Random random(seed);
  if (!std::filesystem::exists(sidecar())) return;
  if (random.chance(1, 20)) {
    std::filesystem::remove(sidecar());
    return;
  }
  // Behind the magic, without which it would not be taken for a sidecar.
  constexpr std::uint64_t magic = 8;
  std::fstream file(sidecar(), std::ios::binary | std::ios::in | std::ios::out);
  const std::uint64_t size = std::filesystem::file_size(sidecar());
  for (std::uint64_t changes = random.below(20); changes > 0; --changes) {
    const std::uint64_t within = random.chance(1, 2) ? 64 : size;
    file.seekp(static_cast<std::streamoff>(magic + random.below(within - magic)));
    file.put(static_cast<char>(random.next()));
  }
}

void ScratchFolder::write(const Image& image) const {
  for (const auto& [name, content] : image)
    write_file(path_ + "/" + name, content);
}

}  // namespace wallock::test
