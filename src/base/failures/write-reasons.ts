/** Why a file cannot be written, by the system's code. Instead of the error's message, which may name a temporary file. */
export const writeReasons: Readonly<Record<string, string>> = {
  EACCES: "no permission to write in its directory",
  EPERM: "no permission to write in its directory",
  EROFS: "its file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};
