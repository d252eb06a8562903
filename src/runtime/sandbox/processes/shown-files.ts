import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../../../base/paths/location.ts";
import type { Python } from "../find.ts";

/** Programs for scripts of skills. No compilers, debuggers, version control, package managers or containers. */
const scriptTools = `
  [ arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dircolors dirname du
  echo env expand expr factor false fmt fold groups head hostid hostname id install join link ln logname ls md5sum mkdir mkfifo
  mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv printf ptx pwd readlink realpath rm rmdir seq sha1sum
  sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch
  tr true truncate tsort tty uname unexpand uniq unlink uptime users vdir wc who whoami yes
  bash dash sh awk gawk mawk sed grep egrep fgrep find xargs diff diff3 cmp sdiff patch perl bc dc jq file which tree getopt
  column rev hexdump xxd iconv gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd tar zip unzip cpio
  curl wget openssl ps pgrep kill
`
  .trim()
  .split(/\s+/);
const toolDirectories = ["/usr/bin", "/bin"];

const architecture = process.arch === "arm64" ? "aarch64" : "x86_64";
/** Directories of libraries, without the programs of packages in `/usr/lib`. */
const libraries = [
  ...["/usr/lib64", "/usr/lib32", `/usr/lib/${architecture}-linux-gnu`, "/lib64", `/lib/${architecture}-linux-gnu`],
  ...["locale", "ssl", "file"].map((name) => `/usr/lib/${name}`),
  ...["zoneinfo", "misc", "terminfo", "ca-certificates", "perl", "perl5", "awk", "nodejs"].map(
    (name) => `/usr/share/${name}`,
  ),
];
/** Systems with one of these have their libraries directly in `/usr/lib`: all of it is mounted. */
const flatLibraries = ["/usr/lib/libc.so.6", "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"];

/** Directories and files of the host that Python programs need, including the interpreter. */
export function shownToPython(python: Python): string[] {
  const { executable, prefix, version } = python;
  const [major = "3", minor = "0"] = version.split(".");
  const elsewhere = dirname(executable) === "/usr/bin" ? [] : [executable];
  const own =
    prefix === "/usr" || prefix === "/usr/local"
      ? [`${prefix}/lib/python${major}.${minor}`, `${prefix}/lib/python${major}`, ...ownLibrary(prefix, major, minor)]
      : [prefix];
  const system = flatLibraries.some((file) => existsSync(file)) ? ["/usr/lib", "/lib", "/usr/lib64"] : libraries;
  // Links are recreated in the root of the sandbox.
  const real = system.filter((file) => existsSync(file) && realpathSync(file) === file);
  const found = [...new Set([...own, ...elsewhere, ...real])].filter((file) => existsSync(file));
  return found.filter((file) => !found.some((other) => other !== file && isWithin(file, other)));
}

function ownLibrary(prefix: string, major: string, minor: string): string[] {
  if (prefix === "/usr") return [];
  return [`libpython${major}.${minor}.so.1.0`, `libpython${major}.so`].map((name) => `${prefix}/lib/${name}`);
}

/** Dynamic loaders: starting a program needs the right to execute its loader. */
export function programLoaders(): string[] {
  const names = ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1", "ld-musl-aarch64.so.1"];
  const loaders = ["/lib64", "/lib"].flatMap((directory) => names.map((name) => join(directory, name)));
  return [...new Set(loaders.filter((file) => existsSync(file)).map((file) => realpathSync(file)))];
}

/** The script tools that are installed on this machine. */
export function findScriptTools(): { readonly name: string; readonly path: string }[] {
  return scriptTools.flatMap((name) => {
    const path = toolDirectories.map((directory) => join(directory, name)).find((candidate) => existsSync(candidate));
    return path === undefined ? [] : [{ name, path: realpathSync(path) }];
  });
}

/**
 * Creates a directory to mount as `/usr/bin`: the interpreter, and with `tools` the programs for scripts. Uses hard links where possible.
 * Mounting one directory is faster than mounting a hundred files.
 */
export function makeProgramDirectory(directory: string, python: Python, tools: boolean): string {
  mkdirSync(directory, { mode: 0o755 });
  const add = (name: string, path: string): void => {
    const target = join(directory, name);
    try {
      linkSync(path, target);
    } catch {
      copyFileSync(path, target, constants.COPYFILE_FICLONE);
      chmodSync(target, 0o755);
    }
  };
  if (tools) for (const { name, path } of findScriptTools()) add(name, path);
  const isSystems = dirname(python.executable) === "/usr/bin";
  const own = basename(python.executable);
  if (isSystems) add(own, python.executable);
  for (const name of ["python3", "python"]) {
    if (name !== own) symlinkSync(isSystems ? own : python.executable, join(directory, name));
  }
  chmodSync(directory, 0o755);
  return directory;
}

/** Replacements for system files, created once per process. */
export interface SyntheticRoot {
  readonly etc: string;
  readonly zeros: string;
}

const written: Readonly<Record<string, string>> = {
  passwd: "root:x:0:0::/:/usr/sbin/nologin\nsandbox:x:1000:1000::/workspace:/bin/bash\n",
  group: "root:x:0:\nsandbox:x:1000:\n",
  hosts: "127.0.0.1 localhost sandbox\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
  "resolv.conf": "",
};
/** Files of the real `/etc` that programs need; none contains user data. */
const copied = [
  ...["ld.so.cache", "localtime", "alternatives", "mime.types"],
  ...["ssl/openssl.cnf", "ssl/certs/ca-certificates.crt", "ssl/cert.pem", "pki/tls/certs/ca-bundle.crt"],
];
const zeroBytes = 256 * 1024 * 1024;

/** Creates the replacements in `directory`. */
export function makeSyntheticRoot(directory: string): SyntheticRoot {
  const etc = join(directory, "etc");
  mkdirSync(etc);
  for (const [name, text] of Object.entries(written)) {
    writeFileSync(join(etc, name), text);
    chmodSync(join(etc, name), 0o444);
  }
  for (const name of copied) {
    const from = join("/etc", name);
    if (statSync(from, { throwIfNoEntry: false }) === undefined) continue;
    // Links in alternatives/ stay links; others are resolved.
    const links = name === "alternatives" ? { verbatimSymlinks: true } : { dereference: true };
    cpSync(from, join(etc, name), { recursive: true, ...links });
  }
  for (const made of [etc, join(etc, "ssl"), join(etc, "ssl/certs"), join(etc, "pki"), join(etc, "pki/tls")]) {
    if (statSync(made, { throwIfNoEntry: false }) !== undefined) chmodSync(made, 0o755);
  }
  const zeros = join(directory, "zeros");
  writeFileSync(zeros, "");
  truncateSync(zeros, zeroBytes);
  chmodSync(zeros, 0o444);
  return { etc, zeros };
}
