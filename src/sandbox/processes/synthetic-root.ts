import { chmodSync, cpSync, mkdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
  "ld.so.cache",
  "localtime",
  "alternatives",
  "ssl/openssl.cnf",
  "ssl/certs/ca-certificates.crt",
  "ssl/cert.pem",
  "pki/tls/certs/ca-bundle.crt",
  "mime.types",
];
const zeroBytes = 256 * 1024 * 1024;

/** Creates them in `directory`. */
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
