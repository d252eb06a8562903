import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const program = "docker-registry";
export const hasRegistry = spawnSync(program, ["--version"]).status === 0;
if (!hasRegistry && process.env["ACP_SKILLS_REQUIRE_REGISTRY"] === "1")
  throw new Error(`ACP_SKILLS_REQUIRE_REGISTRY requires ${program}, which is not installed.`);
export const whyNoRegistry = hasRegistry ? "" : ` (skipped: ${program} is not installed)`;

export interface RealRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  close(): Promise<void>;
}

/** Ends the registry, and removes its directory, with whoever started it: a suite of which no test runs does not close it. */
const guarded = `${program} serve "$0" & pid=$!; read -r _; kill -9 $pid; wait $pid; rm -rf "$1"`;

/** Debian's docker-registry on a free port of loopback; `auth`: lines of its configuration. */
export async function openRealRegistry(auth = ""): Promise<RealRegistry> {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-registry-"));
  const file = path.join(directory, "config.yml");
  const storage = `storage:\n  filesystem:\n    rootdirectory: ${path.join(directory, "data")}\n`;
  writeFileSync(file, `version: 0.1\nlog:\n  level: info\n${storage}http:\n  addr: 127.0.0.1:0\n${auth}`);
  const child = spawn("sh", ["-c", guarded, file, directory], { stdio: ["pipe", "ignore", "pipe"] });
  const close = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.stdin.end();
    await ended;
  };
  try {
    return { host: await listening(child), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The address that it says it listens on. Its stderr stays open: a program that writes to a closed one ends. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.on("error", reject);
    child.stderr?.on("end", () => reject(new Error(`${program} ended: ${said}`)));
    child.stderr?.on("data", (chunk: Buffer) => {
      if (said.length < 64 * 1024) said += String(chunk);
      const [, host] = /listening on (127\.0\.0\.1:\d+)/.exec(said) ?? [];
      if (host !== undefined) resolve(host);
    });
  });
}
