// Who is alive, as the kernel's locks tell.
#include <sys/stat.h>

#include <filesystem>

#include <fcntl.h>

#include "host/sidecar_file.hpp"
#include "host_support.hpp"

using namespace wallock;
using namespace wallock::test;
using host::Membership;

namespace {

// A mark as the members' table holds it: order of joining and place.
std::uint64_t mark(std::uint64_t join, std::uint64_t place) { return join << 11 | place << 1; }

// An opening of `instance` that was killed.
void die_as(const Shore& shore, std::uint64_t instance) {
  REQUIRE(Fork([&] {
            const auto sidecar = shore.open(instance);
            return raise(SIGKILL);
          }).wait() == 128 + SIGKILL);
}

}  // namespace

TEST_CASE("membership tells the dead from the living, the closed and the unknown") {
  const Shore shore;
  const auto own = shore.open(1);
  const auto living = shore.open(2);
  shore.open(3).reset();
  die_as(shore, 4);
  const Membership& members = own->membership();
  CHECK_FALSE(members.is_dead(1));
  CHECK_FALSE(members.is_dead(2));
  CHECK_FALSE(members.is_dead(3));
  CHECK(members.is_dead(4));
  CHECK(living->membership().is_dead(4));
  CHECK_FALSE(members.is_dead(5));
  CHECK_FALSE(members.is_dead(0));
  CHECK(members.count() == 2);
}

TEST_CASE("a member is dead from the moment of its end, and no sooner (case L32)") {
  const Shore shore;
  const auto own = shore.open(1);
  const Shared<std::atomic<bool>> joined;
  Fork member([&] {
    const auto sidecar = shore.open(2);
    *joined = true;
    return pause();
  });
  REQUIRE(await([&] { return joined->load(); }));
  CHECK_FALSE(own->membership().is_dead(2));
  member.signal(SIGSTOP);
  CHECK_FALSE(own->membership().is_dead(2));
  member.kill();
  CHECK(own->membership().is_dead(2));
}

TEST_CASE("the places of closed openings are used again, those of the dead are kept") {
  const Shore shore;
  const auto own = shore.open(1);
  die_as(shore, 2);
  for (std::uint64_t instance = 3; instance < 10; ++instance) {
    const auto sidecar = shore.open(instance);
    CHECK(sidecar->membership().own() == 2);
    CHECK(own->membership().is_dead(2));
  }
}

TEST_CASE("when all places were used, the one of the oldest dead opening goes first") {
  const Shore shore;
  const auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  // All others are dead; place 700 for longest, then 300. The own place is older than all.
  for (std::uint64_t place = 1; place < Membership::places; ++place) {
    raw->members.places[place].instance = 1000 + place;
    raw->members.places[place].mark = mark(10'000 + place, place);
  }
  raw->members.places[700].mark = mark(50, 700);
  raw->members.places[300].mark = mark(60, 300);
  raw->members.used = Membership::places;
  raw->members.joins = 20'000;
  const auto a = shore.open(2);
  const auto b = shore.open(3);
  CHECK(a->membership().own() == 700);
  CHECK(b->membership().own() == 300);
  CHECK_FALSE(own->membership().is_dead(1700));
  CHECK(own->membership().is_dead(1701));
  CHECK(own->membership().count() == 3);
}

TEST_CASE("an opening that finds all places taken by the living goes without") {
  const Shore shore;
  const auto own = shore.open(1);
  const int file = host::open_sidecar(shore.database());
  REQUIRE(file >= 0);
  struct flock all{};
  all.l_type = F_WRLCK;
  all.l_start = host::first_member_byte + 1;
  all.l_len = Membership::places - 1;
  REQUIRE(fcntl(file, F_OFD_SETLK, &all) == 0);
  CHECK(shore.open_error() == EAGAIN);
  close(file);
  CHECK(shore.open_error() == 0);
}

TEST_CASE("the mark of an opening is nobody's after it, whoever has its place") {
  const Shore shore;
  const auto own = shore.open(1);
  auto other = shore.open(2);
  const Membership::Mark gone = other->membership().mark();
  const Membership::Place place = other->membership().own();
  CHECK(own->membership().lives(gone));
  CHECK(own->membership().lives(gone | Membership::flag));
  CHECK(own->membership().is_alive(place));
  other.reset();
  CHECK_FALSE(own->membership().lives(gone));
  CHECK_FALSE(own->membership().is_alive(place));
  other = shore.open(3);
  REQUIRE(other->membership().own() == place);
  CHECK_FALSE(own->membership().lives(gone));
  CHECK(own->membership().lives(other->membership().mark()));
  CHECK(own->membership().lives(own->membership().mark()));
}

TEST_CASE(
    "an application that closes our descriptor makes nobody dead and loses no file of its own") {
  const Shore shore;
  const auto other = shore.open(1);
  CHECK(Fork([&] {
          auto sidecar = shore.open(2);
          for (int file = 3; file < 256; ++file)
            close(file);
          // The numbers are given again, for a file that nobody has a lock on.
          std::ofstream(shore / "own").flush();
          int last = 0;
          while (last < 20)
            last = open((shore / "own").c_str(), O_RDWR);
          const bool is_wrong = sidecar->membership().is_dead(1) ||
                                !sidecar->membership().lives(other->membership().mark());
          sidecar.reset();
          for (int file = 3; file <= last; ++file) {
            if (fcntl(file, F_GETFD) < 0) return 2;
          }
          return is_wrong ? 1 : 0;
        }).wait() == 0);
  CHECK_FALSE(other->membership().is_dead(2));
}

TEST_CASE("an opening that lost its place to another does not clear the other's name") {
  const Shore shore;
  auto own = shore.open(1);
  const RawSidecar raw(shore.sidecar());
  const auto place = own->membership().own();
  raw->members.places[place].mark = mark(7, place);
  raw->members.places[place].instance = 77;
  own.reset();
  CHECK(raw->members.places[place].instance == 77);
}
