import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Json } from "../../../src/runtime/sandbox.ts";

/** Runs `main(args)` of Python without a sandbox, as an unprivileged user if started by root. Returns undefined if it fails. */
export async function runUnconfined(code: string, args: Json): Promise<Json | undefined> {
  const driver = `${code}\n\nimport json\nwith open(3, "w") as results:\n    json.dump(main(json.load(sys.stdin)), results)\n`;
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn("python3", ["-c", driver], { stdio: ["pipe", "ignore", "ignore", "pipe"], cwd: "/", ...user });
  child.stdin?.end(JSON.stringify(args));
  let result = "";
  child.stdio[3]?.on("data", (bytes: Buffer) => (result += bytes.toString()));
  await once(child, "close");
  return result === "" ? undefined : (JSON.parse(result) as Json);
}
