// SPDX-License-Identifier: Apache-2.0
#include "cache/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace lijit::cache {
namespace {

// Repeats a system call that a signal interrupted.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

int ReadAll(int fd, std::vector<std::byte>& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = Retry([&] { return read(fd, bytes.data() + done, bytes.size() - done); });
    if (n < 0) return errno;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);  // the file may have been cut since its size was asked
  return 0;
}

int WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = Retry([&] { return write(fd, bytes.data(), bytes.size()); });
    if (n < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return 0;
}

// A name beside `path` that no other process, thread or machine uses.
std::string TemporaryName(const std::string& path) {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
    static std::atomic<std::uint64_t> sequence;  // O_EXCL finds what this lets through
    random = ++sequence;
  }
  return fmt::format("{}.{}-{:016x}{}", path, getpid(), random, kTemporarySuffix);
}

// Makes the rename durable where the file system can. Best effort: without it a crash of the
// machine can lose the entry, never damage it.
void SyncFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) fsync(fd.get());
}

int WriteAndRename(const UniqueFd& fd, const std::string& temporary, const std::string& path,
                   std::span<const std::byte> bytes, Durability durability) {
  if (const int error = WriteAll(fd.get(), bytes); error != 0) return error;
  if (durability == Durability::kSynced && Retry([&] { return fsync(fd.get()); }) != 0)
    return errno;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return errno;
  return 0;
}

}  // namespace

UniqueFd::~UniqueFd() {
  if (fd_ >= 0) close(fd_);
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

FileContents ReadFile(const std::string& path, std::uint64_t max_size) {
  FileContents contents;
  contents.fd = UniqueFd(
      Retry([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }));
  if (!contents.fd || fstat(contents.fd.get(), &contents.info) != 0) {
    contents.error = errno;
  } else if (!S_ISREG(contents.info.st_mode)) {
    contents.error = EINVAL;
  } else if (static_cast<std::uint64_t>(contents.info.st_size) > max_size) {
    contents.too_large = true;
  } else {
    contents.bytes.resize(static_cast<std::size_t>(contents.info.st_size));
    contents.error = ReadAll(contents.fd.get(), contents.bytes);
  }
  return contents;
}

bool IsUnchanged(const std::string& path, const struct stat& info) {
  struct stat now;
  return lstat(path.c_str(), &now) == 0 && now.st_dev == info.st_dev && now.st_ino == info.st_ino &&
         now.st_size == info.st_size && now.st_mtim.tv_sec == info.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == info.st_mtim.tv_nsec;
}

int MakeOneFolder(const std::string& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0) return errno == EEXIST ? 0 : errno;
  (void)chmod(path.c_str(), mode);  // the umask may have taken something away
  return 0;
}

int WriteFile(const std::string& path, std::span<const std::byte> bytes, mode_t mode,
              Durability durability, Permissions permissions) {
  const std::string temporary = TemporaryName(path);
  const UniqueFd fd(Retry([&] {
    return open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  }));
  if (!fd) return errno;
  if (permissions == Permissions::kExact) (void)fchmod(fd.get(), mode);
  const int error = WriteAndRename(fd, temporary, path, bytes, durability);
  if (error != 0) {
    unlink(temporary.c_str());
    return error;
  }
  if (durability == Durability::kSynced) SyncFolder(path);
  return 0;
}

void ForEachName(const std::string& folder, const std::function<void(const std::string&)>& visit) {
  std::error_code error;
  std::filesystem::directory_iterator it(folder, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    visit(it->path().filename().string());
  }
}

}  // namespace lijit::cache
