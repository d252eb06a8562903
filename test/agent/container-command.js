#!/usr/bin/env node
// Stands in for docker where there is none: `run` and `kill` with the options of the example's sandbox, by bubblewrap.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [action = "", ...given] = process.argv.slice(2);
/** @param {string} name */
const pidFile = (name) => join(tmpdir(), `${name}.pid`);

if (action === "version") process.exit(spawnSync("bwrap", ["--version"]).status ?? 1);
else if (action === "kill") kill(given[0] ?? "");
else run();

/** @param {string} name */
function kill(name) {
  process.kill(Number(readFileSync(pidFile(name), "utf8")), "SIGKILL");
}

function run() {
  /** @type {string[]} */
  const mounts = [];
  let name = "";
  let directory = "/";
  const rest = [...given];
  while (rest[0]?.startsWith("-") === true) {
    const option = rest.shift();
    if (["--rm", "-i", "--read-only"].includes(option ?? "")) continue;
    const value = rest.shift() ?? "";
    if (option === "--name") name = value;
    else if (option === "-w") directory = value;
    else if (option === "--tmpfs") mounts.push("--tmpfs", value.split(":")[0] ?? "");
    else if (option === "-v") mounts.push("--ro-bind", ...value.split(":").slice(0, 2));
  }
  const [, ...command] = rest;
  const system = ["/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"].flatMap((path) => [
    "--ro-bind-try",
    path,
    path,
  ]);
  const child = spawn(
    "bwrap",
    [
      ...[
        "--unshare-all",
        "--die-with-parent",
        "--as-pid-1",
        "--clearenv",
        "--setenv",
        "PATH",
        "/usr/local/bin:/usr/bin:/bin",
      ],
      ...[...system, "--proc", "/proc", "--dev", "/dev", ...mounts, "--chdir", directory, ...command],
    ],
    { stdio: "inherit" },
  );
  writeFileSync(pidFile(name), String(child.pid));
  child.on("exit", (code) => {
    rmSync(pidFile(name), { force: true });
    process.exitCode = code ?? 137;
  });
}
