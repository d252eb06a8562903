import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";

const cache = process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache");
/** Too big for every checkout: `.ci/run` installs it once. */
const program = path.join(cache, "acp-skills-tests", "s3rver", "node_modules", "s3rver", "bin", "s3rver.js");

/** Why the tests that need an object store cannot run here; undefined if they can. In the gate, that is a failure. */
export function s3Fault(): string | undefined {
  if (existsSync(program)) return undefined;
  const fault = `there is no s3rver at ${program}`;
  if (process.env["ACP_SKILLS_REQUIRE_S3"] === "1") throw new Error(`ACP_SKILLS_REQUIRE_S3 is set, and ${fault}.`);
  return fault;
}

export interface S3Server {
  /** The URL of its bucket. */
  readonly url: string;
  /** The directory that has its objects, as files. */
  readonly directory: string;
  close(): Promise<void>;
}

/** An object store on a free port of loopback, with an empty bucket. Sets the credentials that the SDK finds. */
export async function openS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-s3-"));
  const args = ["--directory", directory, "--address", "127.0.0.1", "--port", "0", "--configure-bucket", "blobs"];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const close = async (): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill("SIGKILL");
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    process.env["AWS_ACCESS_KEY_ID"] = "S3RVER";
    process.env["AWS_SECRET_ACCESS_KEY"] = "S3RVER";
    return { url: `http://127.0.0.1:${await portOf(child)}/blobs`, directory: path.join(directory, "blobs"), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function portOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const read = (chunk: Buffer): void => {
      if (said.length < 64 * 1024) said += String(chunk);
      const [, port] = /listening on \S*:(\d+)/.exec(said) ?? [];
      if (port !== undefined) resolve(port);
    };
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`s3rver ended: ${said}`)));
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
  });
}
