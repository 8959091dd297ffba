#include <algorithm>
#include <array>

#include "host/filesystem.hpp"

namespace wallock::host {
namespace {

// The next field of a line of blank-separated fields, or nothing at its end.
std::string_view next_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(field.size());
  return field;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// Undoes the kernel's escapes: blank, tab, line feed, backslash and # stand as \ooo.
std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && text.size() - i > 3 && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escape) {
      out.push_back(text[i]);
      continue;
    }
    const int byte = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte & 0xff)));
    i += 3;
  }
  return out;
}

struct Mount {
  std::string point;
  std::string type;
};

// A line of mountinfo: id, parent, device, root, mount point, options, any number of tags, a lone
// hyphen, type, source, options of the file system.
std::optional<Mount> read_line(std::string_view line) {
  constexpr int fields_before_point = 4;
  for (int i = 0; i < fields_before_point; ++i)
    next_field(line);
  const std::string_view point = next_field(line);
  const std::size_t separator = line.find(" - ");
  if (!point.starts_with('/') || separator == std::string_view::npos) return std::nullopt;
  line.remove_prefix(separator + 3);
  const std::string_view type = next_field(line);
  if (type.empty()) return std::nullopt;
  return Mount{.point = unescape(point), .type = unescape(type)};
}

// True if `path` is the folder `point` or below it: /data is not above /database.
bool is_below(std::string_view path, std::string_view point) {
  if (point == "/") return path.starts_with('/');
  return path.starts_with(point) && (path.size() == point.size() || path[point.size()] == '/');
}

// By mountinfo name. FUSE is all of it: what stands behind it cannot be known, and virtiofs, sshfs
// and the shared folders of desktop virtual machines come as FUSE.
constexpr std::array<std::string_view, 27> shared_types{
    "9p",    "acfs",   "afs",   "beegfs", "ceph",  "cifs",  "coda",   "fuse",     "fuseblk",
    "gfs",   "gfs2",   "gpfs",  "lustre", "ncpfs", "nfs",   "nfs4",   "ocfs2",    "orangefs",
    "panfs", "prl_fs", "pvfs2", "smb2",   "smb3",  "smbfs", "vboxsf", "virtiofs", "vmhgfs",
};

struct Magic {
  std::uint32_t value;
  std::string_view type;
};

// f_type of statfs(2): linux/magic.h and the file systems' own sources.
constexpr std::array<Magic, 21> shared_magics{{
    {0x6969, "nfs"},       {0x517b, "smb"},        {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},  {0x01021997, "9p"},     {0x65735546, "fuse"},
    {0x00c36400, "ceph"},  {0x0bd00bd0, "lustre"}, {0x5346414f, "afs"},
    {0x6b414653, "afs"},   {0x7461636f, "ocfs2"},  {0x01161970, "gfs2"},
    {0x73757245, "coda"},  {0x564c, "ncpfs"},      {0x786f4256, "vboxsf"},
    {0x47504653, "gpfs"},  {0x19830326, "beegfs"}, {0x20030528, "orangefs"},
    {0xaad7aaea, "panfs"}, {0x61636673, "acfs"},   {0xbacbacbc, "vmhgfs"},
}};

}  // namespace

std::optional<std::string> mount_type(std::string_view mountinfo, std::string_view path) {
  std::optional<Mount> best;
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    auto mount = read_line(mountinfo.substr(0, end));
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    if (!mount || !is_below(path, mount->point)) continue;
    // Not longer but as long: mounted later on the same point, and hides the earlier one.
    if (!best || mount->point.size() >= best->point.size()) best = std::move(mount);
  }
  if (!best) return std::nullopt;
  return std::move(best->type);
}

bool is_shared_type(std::string_view type) noexcept {
  return type.starts_with("fuse.") || std::ranges::find(shared_types, type) != shared_types.end();
}

std::optional<std::string_view> shared_type_of_magic(std::uint32_t magic) noexcept {
  const auto found = std::ranges::find(shared_magics, magic, &Magic::value);
  if (found == shared_magics.end()) return std::nullopt;
  return found->type;
}

}  // namespace wallock::host
