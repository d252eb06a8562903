import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { existsSync, writeFileSync, writeSync } = fs;
let changes = 0;

/** @typedef {(this: unknown, ...args: unknown[]) => unknown} Verb */
/** @typedef {(args: unknown[], fd: number) => void} Tear what is left of a change that is interrupted */

/**
 * Makes this process kill itself at its n-th change of the file system; of a write, the first half is left. Call it before anything is
 * imported that changes files.
 * @param {number} last
 */
export async function dieAtChange(last) {
  const untorn = () => undefined;
  const probe = await fs.promises.open(process.execPath);
  await probe.close();
  instrument(Object.getPrototypeOf(probe), last, {
    write: ([bytes, from, length], fd) =>
      writeSync(fd, /** @type {Buffer} */ (bytes), Number(from), Number(length) >> 1),
    writeFile: ([content], fd) => writeSync(fd, halfOf(content)),
    sync: untorn,
  });
  instrument(fs, last, {
    writeSync: ([fd, content]) => writeSync(Number(fd), halfOf(content)),
    writeFileSync: ([file, content, options]) =>
      writeFileSync(String(file), halfOf(content), /** @type {import("node:fs").WriteFileOptions} */ (options)),
    openSync: untorn,
    renameSync: untorn,
    linkSync: untorn,
    symlinkSync: untorn,
    mkdirSync: untorn,
    rmSync: untorn,
    rmdirSync: untorn,
    unlinkSync: untorn,
    utimesSync: untorn,
  });
  instrument(fs.promises, last, {
    writeFile: ([file, content, options]) =>
      writeFileSync(String(file), halfOf(content), /** @type {import("node:fs").WriteFileOptions} */ (options)),
    ...{ open: untorn, rename: untorn, link: untorn, mkdir: untorn, rm: untorn },
  });
  syncBuiltinESMExports();
}

/** Prints a line at once, which is no change. @param {string} line */
export function print(line) {
  writeSync(1, `${line}\n`);
}

/** @param {unknown} owner @param {number} last @param {Record<string, Tear>} verbs */
function instrument(owner, last, verbs) {
  const target = /** @type {Record<string, Verb>} */ (owner);
  for (const [name, tear] of Object.entries(verbs)) {
    const original = /** @type {Verb} */ (target[name]);
    target[name] = function (...args) {
      const isOne = isChange(name, args);
      if (isOne) changes += 1;
      if (isOne && changes === last) {
        tear(args, /** @type {{fd?: number}} */ (this)?.fd ?? -1);
        process.kill(process.pid, "SIGKILL");
      }
      return original.apply(this, args);
    };
  }
}

/** @param {string} name @param {unknown[]} args */
function isChange(name, [file, flags]) {
  if (name === "rm" || name === "rmSync") return existsSync(String(file));
  if (!name.startsWith("open")) return true;
  return typeof flags === "number"
    ? (flags & fs.constants.O_CREAT) !== 0
    : typeof flags === "string" && /[aw]/.test(flags);
}

/** @param {unknown} content */
function halfOf(content) {
  const bytes = Buffer.from(/** @type {string | Uint8Array} */ (content));
  return bytes.subarray(0, bytes.length >> 1);
}
