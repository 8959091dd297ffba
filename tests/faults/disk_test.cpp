// The disk of the power cuts: what lasts, what may be gone, and that it is the same for a seed.
#include "disk.hpp"

#include <set>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "scenario.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

using Kind = DiskEvent::Kind;

DiskEvent written(std::uint64_t offset, const std::string& bytes) {
  return {.kind = Kind::write, .offset = offset, .bytes = bytes};
}

// The contents that file "f" has after the power cuts of many seeds; "-" if there is none.
std::set<std::string> outcomes(const Disk& disk) {
  std::set<std::string> all;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Image image = disk.cut(seed);
    const auto found = image.find("f");
    all.insert(found == image.end() ? "-" : found->second);
  }
  return all;
}

}  // namespace

TEST_CASE("what was flushed outlives a power cut, what was not may be gone or not") {
  Disk disk(Image{{"f", "old"}});
  CHECK(outcomes(disk) == std::set<std::string>{"old"});
  disk.apply(written(0, "new"));
  CHECK(outcomes(disk) == std::set<std::string>{"old", "new"});
  disk.apply({.kind = Kind::flush});
  CHECK(outcomes(disk) == std::set<std::string>{"new"});
}

TEST_CASE("a power cut takes sectors in any order, each as it was at some moment") {
  Disk disk(Image{{"f", std::string(1024, '0')}});
  disk.apply(written(0, std::string(1024, '1')));
  disk.apply(written(0, std::string(512, '2')));
  std::set<std::string> firsts;
  for (const std::string& content : outcomes(disk)) {
    REQUIRE(content.size() == 1024);
    firsts.insert(content.substr(0, 1) + content.substr(512, 1));
    CHECK(content.find_first_not_of(content.front()) % 512 ==
          (content[0] == content[512] ? 511 : 0));
  }
  CHECK(firsts == std::set<std::string>{"00", "01", "10", "11", "20", "21"});
}

TEST_CASE("a new name lasts once the folder is flushed, and so does its end") {
  Disk disk(Image{});
  disk.apply({.kind = Kind::create, .bytes = "f"});
  disk.apply(written(0, "text"));
  disk.apply({.kind = Kind::flush});
  CHECK(outcomes(disk) == std::set<std::string>{"-", "text"});
  disk.apply({.kind = Kind::flush_names});
  CHECK(outcomes(disk) == std::set<std::string>{"text"});
  disk.apply({.kind = Kind::remove, .bytes = "f"});
  disk.apply({.kind = Kind::create, .bytes = "f"});
  CHECK(outcomes(disk) == std::set<std::string>{"-", "text", ""});
  disk.apply({.kind = Kind::flush_names});
  CHECK(outcomes(disk) == std::set<std::string>{""});
}

TEST_CASE("a disk that lies keeps nothing for certain") {
  Disk disk(Image{{"f", "old"}}, true);
  disk.apply(written(0, "new"));
  disk.apply({.kind = Kind::flush});
  CHECK(outcomes(disk) == std::set<std::string>{"old", "new"});
}

TEST_CASE("a truncation that was not flushed may be gone") {
  Disk disk(Image{{"f", "0123456789"}});
  disk.apply({.kind = Kind::truncate, .offset = 4});
  CHECK(outcomes(disk) == std::set<std::string>{"0123", "0123456789"});
}

TEST_CASE("the same seed cuts the power in the same way") {
  Disk disk(Image{{"f", std::string(5000, '0')}});
  for (int i = 0; i < 20; ++i)
    disk.apply(written(static_cast<std::uint64_t>(i) * 700, std::string(900, 'x')));
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    CHECK(disk.cut(seed) == disk.cut(seed));
  CHECK(disk.cut(1) != disk.cut(5));
}

TEST_CASE("the log of what SQLite writes gives its files again") {
  FaultVfs& vfs = FaultVfs::instance();
  const ScratchFolder folder;
  const std::string path = folder.path() + "/f";
  DiskLog log;
  vfs.record(folder.path(), log);
  Image files;
  {
    RawDatabase raw(path);
    raw.must("PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(9999))");
    for (const auto* name : {"f", "f-wal"})
      files[name] = read_file(folder.path() + "/" + name);
    vfs.stop_recording();
  }
  Disk disk(Image{});
  for (const DiskEvent& event : log.events())
    disk.apply(event);
  CHECK(disk.cut(0) == files);  // all of it was flushed
}

TEST_CASE("a fault fails the call that it names, and no other") {
  FaultVfs& vfs = FaultVfs::instance();
  const ScratchFolder folder;
  RawDatabase raw(folder.path() + "/f");
  raw.must("PRAGMA journal_mode=WAL; CREATE TABLE t (x)");
  const std::string insert = "INSERT INTO t VALUES (1)";
  for (const auto kind : {Fault::Kind::io_error, Fault::Kind::full, Fault::Kind::busy}) {
    vfs.arm({.kind = kind, .at = 1'000'000});
    CHECK(raw.run(insert) == "ok");
    const std::uint64_t calls = vfs.calls();
    CHECK(vfs.injected() == 0);
    REQUIRE(calls > 0);
    std::uint64_t failed_for_ever = 0;
    for (std::uint64_t at = 0; at < calls; ++at) {
      vfs.arm({.kind = kind, .at = at});
      static_cast<void>(raw.run(insert));
      CHECK(vfs.injected() == 1);
      vfs.arm({.kind = kind, .at = at, .for_ever = true});
      const bool failed = raw.run(insert) != "ok";
      CHECK(failed == (vfs.injected() > 0));
      failed_for_ever += failed ? 1 : 0;
      vfs.disarm();
      CHECK(raw.run(insert) == "ok");
    }
    CHECK(failed_for_ever > calls / 2);
  }
}

}  // namespace wallock::test
