import { spawn } from "node:child_process";
import { systemCode } from "../../../base/failures/system-error.ts";

interface BrowserEnvironment {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
}

/** How long a program may take to fail; one that runs on is a browser. */
const patienceMs = 2_000;

/**
 * Opens an address in the person's browser. Resolves with a sentence if that is not possible; the address, which has a secret, is not in it.
 */
export async function openInBrowser(
  address: string,
  { env = process.env, platform = process.platform }: BrowserEnvironment = {},
): Promise<string | undefined> {
  const command = browserCommand(address, env, platform);
  if (command === undefined) return "no browser was opened, because there is no display; open the address yourself";
  const [program, ...args] = command;
  const fault = await start(program, args);
  return fault === undefined ? undefined : `no browser was opened: ${program} ${fault}; open the address yourself`;
}

/** The program with its arguments; undefined if there is no display. Nothing is passed through a shell. */
export function browserCommand(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): readonly [string, ...string[]] | undefined {
  // A list, of which the first counts; `%s` stands for the address.
  const [given = ""] = (env["BROWSER"] ?? "").split(platform === "win32" ? ";" : ":");
  const [program, ...args] = given.trim().split(/\s+/);
  if (program !== undefined && program !== "")
    return args.some((text) => text.includes("%s"))
      ? [program, ...args.map((text) => text.replaceAll("%s", address))]
      : [program, ...args, address];
  if (platform === "darwin") return ["open", address];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", address];
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].some((name) => (env[name] ?? "") !== "");
  return hasDisplay ? ["xdg-open", address] : undefined;
}

/** Why a program did not start, as the end of a sentence; undefined if it runs, or has ended well. */
async function start(program: string, args: readonly string[]): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true, windowsHide: true });
    const timer = setTimeout(() => resolve(undefined), patienceMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      resolve(systemCode(error) === "ENOENT" ? "is not installed" : `cannot be started (${systemCode(error)})`);
    });
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code === 0 || code === null ? undefined : `ended with code ${code}`);
    });
    child.unref();
  });
}
