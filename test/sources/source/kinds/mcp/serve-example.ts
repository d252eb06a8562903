import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export const exampleServer = fileURLToPath(new URL("example-server.js", import.meta.url));

/** Starts the SDK's example server over HTTP until the test ends; returns its URL. */
export async function serveExample(directory: string, older = "serve"): Promise<string> {
  const server = spawn(process.execPath, [exampleServer, directory, "http", older], { stdio: ["ignore", "pipe", "inherit"] }); // prettier-ignore
  onTestFinished(async () => {
    server.kill();
    await once(server, "exit");
  });
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  return line.toString().trim();
}
