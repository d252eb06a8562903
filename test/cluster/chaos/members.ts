import { once } from "node:events";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const worker = fileURLToPath(new URL("worker-process.ts", import.meta.url));

/** A process of a cluster that can be killed, and is started again. */
export interface KillableMember {
  /** Kills it with all that it has started, and starts it again at once. */
  kill(): void;
  /** Resolves when it works. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/** Sets the clock of a process an hour ahead. */
const ahead = "data:text/javascript,const { now } = Date; Date.now = () => now() + 3_600_000;";

/** Stores what Node has compiled for the next start, because a killed process stores nothing. */
const storing = `data:text/javascript,import { flushCompileCache } from "node:module"; setTimeout(flushCompileCache, 1_000).unref();`;

interface ProcessOptions {
  readonly isAhead: boolean;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly log: string;
  /** What it prints when it works. */
  readonly says: string;
}

function openProcess({ args, env = {}, log, says, isAhead }: ProcessOptions): KillableMember {
  let child: ChildProcess;
  let ready: Promise<void>;
  let isStopped = false;

  function start(): void {
    const directory = path.dirname(log);
    const started = spawn(process.execPath, ["--import", storing, ...(isAhead ? ["--import", ahead] : []), ...args], {
      env: { ...process.env, ...env, TMPDIR: directory, NODE_COMPILE_CACHE: path.join(directory, "compiled") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    ready = new Promise((resolve) => {
      const hear = (bytes: Buffer): void => {
        appendFileSync(log, bytes);
        if (bytes.includes(says)) resolve();
      };
      started.stdout.on("data", hear);
      started.stderr.on("data", hear);
      started.on("exit", (code, signal) => {
        appendFileSync(log, `exit ${code} ${signal}\n`);
        resolve();
        if (!isStopped && signal !== "SIGKILL") setTimeout(() => child === started && start(), 200);
      });
    });
  }
  start();
  return {
    kill() {
      child.kill("SIGKILL");
      start();
    },
    ready: () => ready,
    async stop() {
      isStopped = true;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export const token = "acp_chaos_0123456789abcdef0123456789abcdef0123456789abcdef";

/** A server over HTTP, with one caller. */
export async function openServerProcess(
  directory: string,
  {
    name,
    cluster,
    skills,
    grants,
  }: { readonly name: string; readonly cluster: string; readonly skills: string; readonly grants: readonly string[] },
): Promise<KillableMember & { readonly url: string }> {
  const port = await freePort();
  const home = path.join(directory, name);
  mkdirSync(home, { recursive: true });
  const config = path.join(home, "serve.json");
  const digest = createHash("sha256").update(token).digest("hex");
  const limits = { requestsPerMinute: 1_000_000, concurrentRequests: 256 };
  writeFileSync(config, JSON.stringify({ callers: [{ name: "load", token: `sha256:${digest}`, grants, limits }] }));
  const member = openProcess({
    args: [cli, "serve", "--port", String(port), "--config", config, "--skills", skills, "--no-default-roots"],
    env: { ACP_SKILLS_CLUSTER: cluster, ACP_SKILLS_HOME: path.join(home, "data") },
    log: path.join(directory, `${name}.log`),
    says: "listening on",
    isAhead: name.endsWith("b"),
  });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

export function openWorkerProcess(directory: string, name: string, cluster: string): KillableMember {
  return openProcess({
    args: [worker, cluster, path.join(directory, name)],
    log: path.join(directory, `${name}.log`),
    says: "started",
    isAhead: name.endsWith("b"),
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}
