import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import path from "node:path";

const cache = process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache");
/** Too big for every checkout: `.ci/run` installs it once. */
const program = path.join(cache, "acp-skills-tests", "verdaccio", "node_modules", "verdaccio", "bin", "verdaccio");

export const hasVerdaccio = existsSync(program);
const isRequired = process.env["ACP_SKILLS_REQUIRED_REGISTRIES"]?.split(",").includes("verdaccio") === true;
if (!hasVerdaccio && isRequired)
  throw new Error(`ACP_SKILLS_REQUIRED_REGISTRIES requires verdaccio, which is not at ${program}.`);
export const whyNoVerdaccio = hasVerdaccio ? "" : ` (skipped: there is no verdaccio at ${program})`;

export interface Verdaccio {
  /** Ends with a slash. */
  readonly url: string;
  /** The token of a new person there. */
  readonly token: string;
  close(): Promise<void>;
}

/** A registry on a free port of loopback; packages of the scope `@private` are for those who log in. */
export async function openVerdaccio(): Promise<Verdaccio> {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-verdaccio-"));
  const file = path.join(directory, "config.yaml");
  const lines = [
    `storage: ${path.join(directory, "storage")}`,
    `auth:\n  htpasswd:\n    file: ${path.join(directory, "htpasswd")}`,
    "uplinks: {}",
    'packages:\n  "@private/*":\n    access: $authenticated\n    publish: $authenticated',
    '  "**":\n    access: $all\n    publish: $authenticated',
    "middlewares: {}",
    "log: { type: stdout, format: json, level: warn }",
    "web: { enable: false }",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [program, "--config", file, "--listen", listen], {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: directory },
  });
  const close = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await listening(child);
    const url = `http://${listen}/`;
    return { url, token: await logIn(url), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Verdaccio does not say which one it took. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function listening(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (chunk: Buffer): void => {
      if (said.length < 64 * 1024) said += String(chunk);
      if (said.includes("http address")) resolve();
    };
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`verdaccio ended: ${said}`)));
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}

async function logIn(url: string): Promise<string> {
  const answer = await fetch(`${url}-/user/org.couchdb.user:me`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "me", password: "a long password" }),
  });
  const { token } = (await answer.json()) as { readonly token?: string };
  if (token === undefined) throw new Error(`verdaccio answered ${answer.status} to a new person.`);
  return token;
}
