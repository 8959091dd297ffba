// Where a store may lie: mount tables made up, and the folders of this machine.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "host/filesystem.hpp"
#include "temporary_folder.hpp"
#include "wallock/result.hpp"

using namespace wallock;
using namespace wallock::test;

namespace {

// A table as proc(5) shows it, with optional tags, escapes, a line that is cut short and a blank
// one.
constexpr std::string_view table =
    "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "22 21 0:5 / /dev rw - devtmpfs udev rw,size=8k\n"
    "30 21 0:40 / /data rw shared:7 master:3 - xfs /dev/sdb rw\n"
    "31 30 0:41 / /data/remote rw - nfs4 server:/x rw,vers=4.2\n"
    "32 31 0:42 / /data/remote/local rw - tmpfs tmpfs rw\n"
    "33 21 0:43 / /with\\040blank rw - fuse.sshfs me@host: rw\n"
    "34 21 0:44 / /over rw - ext4 /dev/sdc rw\n"
    "35 34 0:45 / /over rw unbindable - 9p share rw,trans=virtio\n"
    "36 21 0:46 / /back\\134slash\\011tab rw - virtiofs tag rw\n"
    "37 21 0:47 / /cut\n"
    "\n"
    "38 21 0:48 / /last rw - cifs //server/share rw";

struct Place {
  std::string_view path;
  std::optional<std::string> type;
};

}  // namespace

TEST_CASE("a path lies on the mount with the longest mount point that holds it") {
  const std::vector<Place> places{
      {"/", "ext4"},
      {"/home/x/a.db", "ext4"},
      {"/dev", "devtmpfs"},
      {"/dev/shm/a.db", "devtmpfs"},
      {"/development/a.db", "ext4"},
      {"/data", "xfs"},
      {"/data/a.db", "xfs"},
      {"/database/a.db", "ext4"},
      {"/data/remote", "nfs4"},
      {"/data/remote/a.db", "nfs4"},
      {"/data/remotely/a.db", "xfs"},
      {"/data/remote/local/a.db", "tmpfs"},
      {"/with blank/a.db", "fuse.sshfs"},
      {"/with\\040blank/a.db", "ext4"},
      {"/over/a.db", "9p"},
      {"/back\\slash\ttab/a.db", "virtiofs"},
      {"/cut/a.db", "ext4"},
      {"/last/a.db", "cifs"},
  };
  for (const Place& place : places) {
    INFO(place.path);
    CHECK(host::mount_type(table, place.path) == place.type);
  }
}

TEST_CASE("a table without a fitting line tells nothing") {
  CHECK(host::mount_type("", "/a") == std::nullopt);
  CHECK(host::mount_type("no such thing\n \n - \n/ / / / / - \n", "/a") == std::nullopt);
  CHECK(host::mount_type("30 21 0:40 / /data rw - xfs /dev/sdb rw\n", "/a") == std::nullopt);
  CHECK(host::mount_type(table, "relative/a.db") == std::nullopt);
}

TEST_CASE("network and cross-machine file systems are told by their type") {
  for (const std::string_view type :
       {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse", "fuseblk", "fuse.sshfs", "fuse.grpcfuse",
        "virtiofs", "ceph", "lustre", "afs", "ocfs2", "gfs2", "vboxsf", "prl_fs"}) {
    INFO(type);
    CHECK(host::is_shared_type(type));
  }
  for (const std::string_view type :
       {"ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "fusectl", "nfsd", ""}) {
    INFO(type);
    CHECK_FALSE(host::is_shared_type(type));
  }
}

TEST_CASE("network and cross-machine file systems are told by statfs's number") {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 10> shared{{
      {0x6969, "nfs"},
      {0x517b, "smb"},
      {0xff534d42, "cifs"},
      {0xfe534d42, "smb2"},
      {0x01021997, "9p"},
      {0x65735546, "fuse"},
      {0x00c36400, "ceph"},
      {0x0bd00bd0, "lustre"},
      {0x7461636f, "ocfs2"},
      {0x01161970, "gfs2"},
  }};
  for (const auto& [magic, type] : shared) {
    INFO(type);
    CHECK(host::shared_type_of_magic(magic) == type);
  }
  // ext4, xfs, btrfs, tmpfs, overlayfs, ramfs, zfs
  for (const std::uint32_t magic : {0xef53U, 0x58465342U, 0x9123683eU, 0x01021994U, 0x794c7630U,
                                    0x858458f6U, 0x2fc12fc1U, 0U}) {
    INFO(magic);
    CHECK(host::shared_type_of_magic(magic) == std::nullopt);
  }
}

TEST_CASE("a missing folder is store_unavailable with the system's number") {
  const TemporaryFolder folder;
  const auto missing = host::check_local(folder.file("none/a.db"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == Errc::store_unavailable);
  CHECK(missing.error().facts().native == ENOENT);

  std::ofstream(folder.file("plain")) << "x";
  const auto no_folder = host::check_local(folder.file("plain/a.db"));
  REQUIRE_FALSE(no_folder);
  CHECK(no_folder.error().code() == Errc::store_unavailable);
  CHECK(no_folder.error().facts().native == ENOTDIR);
}

TEST_CASE("checking a place neither creates nor changes anything") {
  const TemporaryFolder folder;
  static_cast<void>(host::check_local(folder.file("a.db")));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("every name of a store resolves to one path") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directory(folder.file("real"));
  fs::create_directory_symlink(folder.file("real"), folder.file("link"));
  const std::string real = fs::canonical(folder.file("real")).string() + "/a.db";
  CHECK(host::resolve(folder.file("real/a.db")).value() == real);
  CHECK(host::resolve(folder.file("link/a.db")).value() == real);
  CHECK(host::resolve(folder.file("link/../real/./a.db")).value() == real);

  // A link to the file itself, before the file is there and after.
  fs::create_symlink("real/a.db", folder.file("file_link"));
  CHECK(host::resolve(folder.file("file_link")).value() == real);
  fs::create_symlink(folder.file("file_link"), folder.file("link_to_link"));
  CHECK(host::resolve(folder.file("link_to_link")).value() == real);
  std::ofstream(folder.file("real/a.db")) << "x";
  CHECK(host::resolve(folder.file("link_to_link")).value() == real);
}

TEST_CASE("links in a circle are refused") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_symlink(folder.file("b"), folder.file("a"));
  fs::create_symlink(folder.file("a"), folder.file("b"));
  const auto answer = host::resolve(folder.file("a"));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().facts().native == ELOOP);
}

TEST_CASE("a name without a folder lies in the current one") {
  const auto answer = host::resolve("no-such-file.db");
  REQUIRE(answer);
  CHECK(*answer == std::filesystem::current_path().string() + "/no-such-file.db");
  CHECK(host::resolve("/no-such-file.db").value() == "/no-such-file.db");
}

TEST_CASE("a folder in this machine's memory is a place for a store") {
  if (std::filesystem::exists("/dev/shm")) CHECK(host::check_local("/dev/shm/a.db"));
}
