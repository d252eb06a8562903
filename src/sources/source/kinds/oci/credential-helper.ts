import { findProgram, searchPath } from "../../../../base/processes/find-program.ts";
import { spawnProcess } from "../../../../base/processes/spawn-process.ts";
import { SkillsError } from "../../../../base/errors.ts";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import type { RegistryCredentials } from "./credentials.ts";

const nameForm = /^[a-z0-9-]{1,64}$/;
const timeoutMs = 20_000;
const maxBytes = 64 * 1024;

/**
 * Requests the credentials of a server from `docker-credential-NAME`; undefined if it has none. The server is written to stdin, and the
 * output is in no message. Throws AUTH_REQUIRED.
 */
export async function askHelper(
  name: string,
  server: string,
  signal: AbortSignal,
): Promise<RegistryCredentials | undefined> {
  if (!nameForm.test(name))
    throw failure(
      "The credential helper of the Docker configuration",
      "has a name that is none: lower-case letters, digits and hyphens",
    );
  const program = `docker-credential-${name}`;
  const file = findProgram(searchPath(), program, ...(process.platform === "win32" ? [`${program}.exe`] : []));
  if (file === undefined) throw failure(program, "is named in the Docker configuration, and not on the PATH");
  const late = AbortSignal.timeout(timeoutMs);
  const { code, text } = await run(file, server, AbortSignal.any([signal, late])).catch((error: unknown) => {
    signal.throwIfAborted();
    if (late.aborted) throw failure(program, `did not answer within ${timeoutMs / 1_000} s`);
    throw error;
  });
  if (code !== 0) {
    // The protocol says "nothing stored" with these words.
    if (/credentials not found/i.test(text)) return undefined;
    throw failure(program, `ended with ${code ?? "a signal"}`);
  }
  const json = parseIfJson(text);
  const { Username: user, Secret: secret } = isObject(json) ? json : {};
  if (typeof user !== "string" || typeof secret !== "string") throw failure(program, "printed no credentials");
  if (secret === "") return undefined;
  return user === "<token>" ? { type: "identity", token: secret } : { type: "password", user, secret };
}

async function run(file: string, input: string, signal: AbortSignal): Promise<{ code: number | null; text: string }> {
  const child = await spawnProcess(file, ["get"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
  return await new Promise((resolve, reject) => {
    let text = "";
    const stop = (): void => {
      child.kill("SIGKILL");
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.length <= maxBytes) return;
      child.kill("SIGKILL");
      text = "";
    });
    // The helper may end without reading.
    child.stdin?.on("error", () => undefined).end(input);
    child.on("close", (code) => {
      signal.removeEventListener("abort", stop);
      resolve({ code, text });
    });
  });
}

function failure(what: string, why: string): SkillsError {
  return new SkillsError("AUTH_REQUIRED", `${what} ${why}.`);
}
