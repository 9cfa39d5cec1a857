/*
 * A disk that fails for one process, which loads this with LD_PRELOAD. It stands between the process and the C library
 * for the files below FAILING_DISK_FOLDER. The file FAILING_DISK_MODE says how the disk behaves, and may change at any
 * time:
 *
 *   ok        as it is
 *   full      nothing can be written (ENOSPC)
 *   error     nothing can be written or synchronized (EIO)
 *   readonly  nothing can be written (EROFS)
 *   unsynced  nothing can be synchronized (EIO)
 *   short     half of each write is written
 *   slow      200 ms for each synchronization
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define SLOW_MICROSECONDS 200000

static int is_ours(int fd) {
  const char *folder = getenv("FAILING_DISK_FOLDER");
  char link[64], path[4096];
  if (folder == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static void read_mode(char *mode, size_t size) {
  const char *file = getenv("FAILING_DISK_MODE");
  ssize_t length = 0;
  int fd = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    length = read(fd, mode, size - 1);
    close(fd);
  }
  mode[length > 0 ? length : 0] = 0;
}

/* How many of `count` bytes can be written: -1 with errno set when none. */
static ssize_t writable(int fd, size_t count) {
  char mode[16];
  int before = errno;
  if (!is_ours(fd)) return errno = before, (ssize_t)count;
  read_mode(mode, sizeof mode);
  if (strcmp(mode, "full") == 0) return errno = ENOSPC, -1;
  if (strcmp(mode, "error") == 0) return errno = EIO, -1;
  if (strcmp(mode, "readonly") == 0) return errno = EROFS, -1;
  errno = before;
  return strcmp(mode, "short") == 0 && count > 1 ? (ssize_t)(count / 2) : (ssize_t)count;
}

/* Whether a synchronization succeeds: -1 with errno set when it does not. */
static int synchronizable(int fd) {
  char mode[16];
  if (!is_ours(fd)) return 0;
  read_mode(mode, sizeof mode);
  if (strcmp(mode, "error") == 0 || strcmp(mode, "unsynced") == 0) return errno = EIO, -1;
  if (strcmp(mode, "slow") == 0) usleep(SLOW_MICROSECONDS);
  return 0;
}

ssize_t write(int fd, const void *buffer, size_t count) {
  ssize_t allowed = writable(fd, count);
  return allowed < 0 ? -1 : NEXT(write)(fd, buffer, (size_t)allowed);
}

ssize_t pwrite64(int fd, const void *buffer, size_t count, off64_t offset) {
  ssize_t allowed = writable(fd, count);
  return allowed < 0 ? -1 : NEXT(pwrite64)(fd, buffer, (size_t)allowed, offset);
}

ssize_t pwrite(int fd, const void *buffer, size_t count, off_t offset) { return pwrite64(fd, buffer, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
  return writable(fd, 1) < 0 ? -1 : NEXT(writev)(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return writable(fd, 1) < 0 ? -1 : NEXT(pwritev)(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return writable(fd, 1) < 0 ? -1 : NEXT(pwritev64)(fd, parts, count, offset);
}

int ftruncate(int fd, off_t length) { return writable(fd, 1) < 0 ? -1 : NEXT(ftruncate)(fd, length); }

int ftruncate64(int fd, off64_t length) { return writable(fd, 1) < 0 ? -1 : NEXT(ftruncate64)(fd, length); }

int fsync(int fd) { return synchronizable(fd) < 0 ? -1 : NEXT(fsync)(fd); }

int fdatasync(int fd) { return synchronizable(fd) < 0 ? -1 : NEXT(fdatasync)(fd); }
