// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/vandal.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

namespace lijit::torture {
namespace {

namespace fs = std::filesystem;

// Regular files, and folders if wanted, that are there while others come and go.
std::vector<fs::path> Everything(const std::string& folder, bool folders) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code gone;
    if (folders || it->is_regular_file(gone)) paths.push_back(it->path());
  }
  return paths;
}

void Flip(const fs::path& path, std::mt19937_64& random, Scoreboard& score) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size > 0) {
    const auto at = static_cast<off_t>(random() % static_cast<std::uint64_t>(size));
    unsigned char byte = 0;
    if (pread(fd, &byte, 1, at) == 1) {
      byte ^= static_cast<unsigned char>(1u << random() % 8);
      score.flips += pwrite(fd, &byte, 1, at) == 1 ? 1 : 0;
    }
  }
  close(fd);
}

void Cut(const fs::path& path, std::mt19937_64& random, Scoreboard& score) {
  std::error_code gone;
  const std::uint64_t size = fs::file_size(path, gone);
  if (gone || size == 0) return;
  score.cuts += truncate(path.c_str(), static_cast<off_t>(random() % size)) == 0 ? 1 : 0;
}

void Swap(const fs::path& from, const fs::path& to, Scoreboard& score) {
  std::error_code error;
  if (from == to || from.extension() != ".entry" || to.extension() != ".entry") return;
  score.swaps += fs::copy_file(from, to, fs::copy_options::overwrite_existing, error) ? 1 : 0;
}

void Remove(const fs::path& path, Scoreboard& score) {
  std::error_code error;
  const std::uintmax_t count = fs::remove_all(path, error);
  score.removals += !error && count > 0 ? 1 : 0;
}

}  // namespace

void Damage(const std::string& folder, std::mt19937_64& random, Scoreboard& score) {
  const unsigned kind = random() % 16;
  const std::vector<fs::path> paths = Everything(folder, kind == 0);
  if (paths.empty()) return;
  const fs::path& path = paths[random() % paths.size()];
  if (kind <= 1) return Remove(path, score);
  if (kind <= 4) return Cut(path, random, score);
  if (kind <= 7) return Swap(path, paths[random() % paths.size()], score);
  return Flip(path, random, score);
}

}  // namespace lijit::torture
