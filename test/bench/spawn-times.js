import { spawn } from "node:child_process";

/** Milliseconds until Node has spawned /bin/true and seen it exit. */
export function spawnTrue() {
  return spawnToEnd("/bin/true", []);
}

/** The same for a bare Python without any sandbox. */
export function spawnPython() {
  return spawnToEnd("/usr/bin/python3", ["-I", "-S", "-c", "print('hello')"]);
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
function spawnToEnd(program, args) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, { stdio: "ignore" });
    child.once("error", reject);
    child.once("exit", () => resolve(performance.now() - started));
  });
}
