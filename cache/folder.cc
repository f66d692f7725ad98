// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "cache/entry.h"
#include "cache/file_io.h"
#include "cache/key.h"

namespace lijit::cache {
namespace {

constexpr std::string_view kEntrySuffix = ".entry";
constexpr std::string_view kDamagedFolder = "damaged";

// A name of the fan-out, "ab", or the rest of a digest, 62 digits.
bool IsHex(std::string_view text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// --- reading

// A file's bytes as an entry; `reading.entry` is set unless something is wrong.
Reading Decode(const std::string& path, const FileContents& file) {
  Reading reading;
  // ESTALE: on a network file system, another machine removed it.
  if (file.error == ENOENT || file.error == ENOTDIR || file.error == ESTALE) return reading;
  if (file.error != 0) {
    reading.outcome = Counter::kUnreadable;
    reading.note = fmt::format("cannot read {}: {}", path, ErrnoText(file.error));
  } else if (file.too_large) {
    reading.outcome = Counter::kTooLarge;
    reading.note = fmt::format("{} has {} bytes; no entry has more than {}", path,
                               file.info.st_size, kMaxEntrySize);
  } else if (auto entry = DecodeEntry(file.bytes, &reading.outcome); entry.ok()) {
    reading.entry = std::make_shared<const Entry>(std::move(entry).value());
  } else {
    reading.note = fmt::format("{}: {}", path, entry.error().message);
  }
  return reading;
}

void Refuse(Reading& reading, Counter outcome, std::string note) {
  reading.outcome = outcome;
  reading.note = std::move(note);
  reading.entry = nullptr;
}

void CheckImage(const std::string& path, const Validator& validator, Reading& reading) {
  if (!reading.entry || !validator) return;
  if (const Status status = validator(*reading.entry); !status.ok()) {
    Refuse(reading, Counter::kImageRefused, fmt::format("{}: {}", path, status.error().message));
  }
}

void CheckWanted(const std::string& path, const Wanted& wanted, Reading& reading) {
  if (!reading.entry) return;
  if (reading.entry->key != wanted.key) {
    Refuse(reading, Counter::kKeyMismatch, fmt::format("{} holds an entry of another key", path));
  } else if (reading.entry->target != wanted.target) {
    Refuse(reading, Counter::kTargetMismatch,
           fmt::format("{} is for {}, asked was {}", path, reading.entry->target, wanted.target));
  }
}

// --- moving aside

void LimitDamaged(const std::string& folder) {
  std::vector<std::pair<std::int64_t, std::string>> files;  // by age
  ForEachName(folder, [&](const std::string& name) {
    struct stat info;
    const std::string path = folder + "/" + name;
    if (lstat(path.c_str(), &info) == 0) files.emplace_back(info.st_ctim.tv_sec, path);
  });
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + kMaxDamaged < files.size(); ++i) unlink(files[i].second.c_str());
}

// True if the file that was read has left its place. If another process has replaced it since, that
// one stays.
bool MoveAside(const Folder& folder, const std::string& path, const FileContents& file,
               std::string_view digest, Counter reason) {
  if (!IsUnchanged(path, file.info)) return false;
  const std::string damaged = fmt::format("{}/{}", folder.path, kDamagedFolder);
  (void)MakeOneFolder(damaged, folder.mode);
  const std::string aside = fmt::format("{}/{}.{}", damaged, digest, Info(reason).name);
  const bool moved = std::rename(path.c_str(), aside.c_str()) == 0;
  if (moved) LimitDamaged(damaged);
  return moved;
}

// The time of last use is the file's modification time, set explicitly because access times are
// often not kept (relatime, noatime). Best effort.
void MarkUsed(const FileContents& file) {
  const struct timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  (void)futimens(file.fd.get(), times);
}

// --- writing

// Writes into the fan-out, which it makes; the folder itself, too, if somebody removed it.
int WriteInFanOut(const Folder& folder, const std::string& path, std::span<const std::byte> bytes) {
  const mode_t file_mode = folder.mode & 0666;
  int error = WriteFile(path, bytes, file_mode, Durability::kSynced);
  if (error != ENOENT) return error;
  if (const auto reopened = OpenFolder(folder.path, /*readonly=*/false); !reopened.ok()) {
    return ENOENT;
  }
  const std::string fan_out = std::filesystem::path(path).parent_path().string();
  if (const int failed = MakeOneFolder(fan_out, folder.mode); failed != 0) return failed;
  return WriteFile(path, bytes, file_mode, Durability::kSynced);
}

}  // namespace

std::string EntryName(std::string_view digest) {
  return fmt::format("{}/{}{}", digest.substr(0, 2), digest.substr(2), kEntrySuffix);
}

std::string EntryPath(const Folder& folder, std::string_view digest) {
  return fmt::format("{}/{}", folder.path, EntryName(digest));
}

FileLock LockIn(const Folder& folder, std::string_view name, std::chrono::milliseconds timeout) {
  return FileLock::Acquire(fmt::format("{}/locks/{}", folder.path, name), timeout, folder.mode);
}

Reading ReadEntry(const Folder& folder, const Wanted& wanted) {
  const std::string path = EntryPath(folder, wanted.digest);
  const FileContents file = ReadFile(path, kMaxEntrySize);
  Reading reading = Decode(path, file);
  CheckWanted(path, wanted, reading);
  CheckImage(path, wanted.validator, reading);
  if (reading.entry) {
    reading.outcome = folder.readonly ? Counter::kHitReadonly : Counter::kHitDisk;
    if (!folder.readonly) MarkUsed(file);
  } else if (IsDamage(reading.outcome) && !folder.readonly) {
    reading.moved_aside = MoveAside(folder, path, file, wanted.digest, reading.outcome);
  }
  return reading;
}

Reading ReadUnasked(const EntryInfo& info, const Validator& validator) {
  Reading reading = Decode(info.path, ReadFile(info.path, kMaxEntrySize));
  if (reading.entry && Sha256Hex(reading.entry->key) != info.key) {
    Refuse(reading, Counter::kKeyMismatch,
           fmt::format("{} holds an entry of another key", info.path));
  }
  CheckImage(info.path, validator, reading);
  if (reading.entry) reading.outcome = info.readonly ? Counter::kHitReadonly : Counter::kHitDisk;
  return reading;
}

Status WriteEntry(const Folder& folder, const Entry& entry) {
  LIJIT_ASSIGN(const std::vector<std::byte> bytes, EncodeEntry(entry));
  const std::string path = EntryPath(folder, Sha256Hex(entry.key));
  const int error = WriteInFanOut(folder, path, bytes);
  if (error == 0) return {};
  // Some network file systems report a lost race as a failure.
  if (struct stat info; error == EEXIST && lstat(path.c_str(), &info) == 0) return {};
  return Unavailable(fmt::format("cannot write {}: {}", path, ErrnoText(error)));
}

std::vector<EntryInfo> ListEntries(const Folder& folder) {
  std::vector<EntryInfo> entries;
  ForEachName(folder.path, [&](const std::string& fan_out) {
    if (!IsHex(fan_out, 2)) return;
    ForEachName(folder.path + "/" + fan_out, [&](const std::string& name) {
      if (!name.ends_with(kEntrySuffix)) return;
      const std::string rest = name.substr(0, name.size() - kEntrySuffix.size());
      const std::string path = fmt::format("{}/{}/{}", folder.path, fan_out, name);
      struct stat info;
      if (!IsHex(rest, 62) || lstat(path.c_str(), &info) != 0) return;
      entries.push_back({fan_out + rest, path, folder.readonly,
                         static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec});
    });
  });
  std::sort(entries.begin(), entries.end(),
            [](const EntryInfo& a, const EntryInfo& b) { return a.key < b.key; });
  return entries;
}

}  // namespace lijit::cache
