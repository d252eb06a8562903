import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type ListenOptions, type Server, createServer } from "node:net";
import { homedir } from "node:os";
import path from "node:path";
import { processesNamedAfter } from "./host-state.ts";

/** Monitored resources of the host that an attacker would read, write, connect to or kill. */
export interface Bait {
  /** Part of the name of everything that belongs to this bait. */
  readonly token: string;
  /** Must never occur in the output of a run. */
  readonly contents: readonly string[];
  /** The location of everything, which attacks are given. */
  readonly facts: BaitFacts;
  /** What was touched since the last call. */
  harm(): string[];
  close(): Promise<void>;
}

interface BaitFacts {
  readonly [fact: string]: string | number | readonly string[];
  /** Files in the home directory, in another user's home, world-readable, and in the temporary directory. */
  readonly files: readonly string[];
  /** A world-writable directory of the host with a world-writable file. */
  readonly writable: string;
  readonly variable: string;
  readonly tcp: number;
  readonly tcp6: number;
  readonly udp: number;
  readonly socket: string;
  readonly abstract: string;
  /** A process of the host. */
  readonly process: number;
  /** The process of the test suite. */
  readonly host: number;
  readonly temporary: string;
  /** The parent of directories that a test mounts into a run. */
  readonly given: string;
}

export async function openBait(): Promise<Bait> {
  const token = `bait${randomBytes(6).toString("hex")}`;
  const contents: string[] = [];
  const content = (): string => {
    const text = `never-seen-${randomBytes(12).toString("hex")}`;
    contents.push(text);
    return text;
  };
  const variable = "ACP_SKILLS_BAIT";
  const before = { variable: process.env[variable], temporary: process.env["TMPDIR"] };
  process.env[variable] = content();

  const root = mkdtempSync(`/var/tmp/${token}-`);
  chmodSync(root, 0o755);
  const files = new Map<string, string>();
  const plant = (file: string, mode: number): void => {
    files.set(file, content());
    writeFileSync(file, files.get(file) ?? "");
    chmodSync(file, mode);
  };
  const home = mayWrite(homedir()) ? homedir() : root;
  plant(path.join(home, `.${token}`), 0o644);
  plant(path.join(home, `.${token}.private`), 0o600);
  plant(path.join(root, "public"), 0o644);
  plant(`/tmp/${token}`, 0o644);
  const other = path.join(root, "other");
  mkdirSync(other, { mode: 0o700 });
  plant(path.join(other, "private"), 0o600);
  if (process.getuid?.() === 0) {
    for (const owned of [other, path.join(other, "private")]) chownSync(owned, 65_534, 65_534);
  }
  const writable = path.join(root, "writable");
  mkdirSync(writable);
  plant(path.join(writable, "file"), 0o666);
  chmodSync(writable, 0o777);
  const temporary = path.join(root, "temporary");
  mkdirSync(temporary);
  // Like /tmp: world-writable with the sticky bit.
  chmodSync(temporary, 0o1777);
  process.env["TMPDIR"] = temporary;
  const given = path.join(root, "given");
  mkdirSync(given);

  const touched: string[] = [];
  const servers: Server[] = [];
  const listen = async (name: string, address: ListenOptions): Promise<number> => {
    const server = createServer((socket) => {
      touched.push(`${name} was connected to`);
      socket.on("error", () => undefined);
      socket.end(contents[0] ?? "");
    });
    server.listen(address);
    await once(server, "listening");
    servers.push(server);
    const bound = server.address();
    return typeof bound === "object" && bound !== null ? bound.port : 0;
  };
  const tcp = await listen("TCP on 127.0.0.1", { port: 0, host: "127.0.0.1" });
  const tcp6 = await listen("TCP on ::1", { port: 0, host: "::1" }).catch(() => 9);
  const socket = path.join(root, "socket");
  await listen("the unix socket", { path: socket });
  chmodSync(socket, 0o777);
  const abstract = `${token}-abstract`;
  if (process.platform === "linux") await listen("the abstract socket", { path: `\0${abstract}` });
  const datagrams = createSocket("udp4", () => touched.push("UDP on 127.0.0.1 was sent to"));
  datagrams.bind(0, "127.0.0.1");
  await once(datagrams, "listening");
  const sleeper = spawn("sleep", ["100000"], { stdio: "ignore", argv0: `sleep-${token}` });
  await once(sleeper, "spawn");

  const state = (): string => [...files.keys(), writable, root].map((file) => describeFile(file)).join("\n");
  const asPlanted = state();
  return {
    token,
    contents,
    facts: {
      files: [...files.keys()],
      writable,
      variable,
      tcp,
      tcp6,
      udp: datagrams.address().port,
      socket,
      abstract,
      process: sleeper.pid ?? 0,
      host: process.pid,
      temporary,
      given,
      token,
    },
    harm() {
      const harm = touched.splice(0);
      if (state() !== asPlanted) harm.push(`files were changed:\n${state()}\ninstead of\n${asPlanted}`);
      if (sleeper.exitCode !== null || sleeper.signalCode !== null) harm.push("a process was ended");
      else if (isStopped(sleeper.pid ?? 0)) harm.push("a process was stopped");
      return harm;
    },
    async close() {
      restore(variable, before.variable);
      restore("TMPDIR", before.temporary);
      sleeper.kill("SIGKILL");
      // The tests have failed already; limit the damage to the machine.
      for (const pid of processesNamedAfter(token)) endProcess(pid);
      datagrams.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      for (const file of [...files.keys(), `/var/tmp/written-${token}`]) rmSync(file, { force: true });
      rmSync(`/var/tmp/made-${token}`, { recursive: true, force: true });
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function restore(variable: string, value: string | undefined): void {
  if (value === undefined) Reflect.deleteProperty(process.env, variable);
  else process.env[variable] = value;
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

function mayWrite(directory: string): boolean {
  try {
    rmSync(mkdtempSync(path.join(directory, ".bait-")), { recursive: true });
    return true;
  } catch {
    // A user without a home.
    return false;
  }
}

function describeFile(file: string): string {
  const { mode, uid, gid, nlink, mtimeMs } = statSync(file);
  const directory = statSync(file).isDirectory();
  return [file, mode, uid, gid, nlink, mtimeMs, directory ? readdirSync(file).join() : readFileSync(file, "utf8")].join(
    " ",
  );
}

function isStopped(pid: number): boolean {
  if (process.platform !== "linux") return false;
  return /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}
