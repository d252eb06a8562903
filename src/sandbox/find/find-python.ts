import { homedir } from "node:os";
import { isSkillsError } from "../../errors.ts";
import { runProgram } from "../../base/spawn-process.ts";
import { isWithin } from "../../base/is-within.ts";
import { findCommand } from "./find-command.ts";

/** An interpreter that can run the inside of a sandbox. */
export interface Python {
  /** The real program, not a link or a shim of it. */
  readonly executable: string;
  readonly version: string;
  /** Where its standard library lies; `/usr` for the system's own. */
  readonly prefix: string;
}

const names = ["python3", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9"];
const systemDirectories = ["/usr/bin", "/usr/local/bin"];
const question = [
  "import sys, os, json, ctypes",
  "base = getattr(sys, '_base_executable', None) or sys.executable",
  "print(json.dumps([sys.implementation.name, list(sys.version_info[:3]), os.path.realpath(base), sys.base_prefix]))",
].join("\n");
const patienceMs = 10_000;

/** A CPython of at least 3.9, rather the system's own; else why there is none. `wanted` is the only one asked when given. */
export async function findPython(wanted?: string): Promise<Python | { readonly reason: string }> {
  const candidates = wanted === undefined ? systemFirst() : [wanted];
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const found = await ask(candidate);
    if (!("reason" in found)) return found;
    reasons.push(found.reason);
  }
  return { reason: reasons[0] ?? "There is no python3 on this machine." };
}

/** Interpreters to ask, each once. */
function systemFirst(): string[] {
  const found = names.map((name) => findCommand(name, systemDirectories));
  return [...new Set(found.filter((path) => path !== undefined))];
}

async function ask(command: string): Promise<Python | { readonly reason: string }> {
  let answer: string;
  try {
    // Neither the user's site nor variables: what answers is what will run.
    const options = { env: { PATH: "/usr/bin:/bin" }, cwd: "/", timeout: patienceMs };
    answer = await runProgram(command, ["-I", "-S", "-c", question], options);
  } catch (error) {
    if (isSkillsError(error)) throw error;
    return { reason: `${command} does not run, or lacks its standard library.` };
  }
  return readAnswer(command, answer);
}

/** Judges what an interpreter said about itself. A sandbox shows all of its prefix: so that holds nobody's home. */
export function readAnswer(command: string, answer: string, home = homedir()): Python | { readonly reason: string } {
  const [implementation, version, executable, prefix] = JSON.parse(answer) as [string, number[], string, string];
  const [major = 0, minor = 0] = version;
  if (implementation !== "cpython") return { reason: `${command} is ${implementation}, not CPython.` };
  if (major !== 3 || minor < 9) return { reason: `${command} is Python ${version.join(".")}; 3.9 is the least.` };
  if (prefix !== "/usr" && isWithin(home, prefix))
    return { reason: `${command} is installed in ${prefix}, with ${home} below it.` };
  return { executable, version: version.join("."), prefix };
}
