import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { wrapCommand } from "../../src/acp/process/wrap-command.ts";
import { silentLog } from "../../src/base/log.ts";
import { describeDoors, doorSkills } from "../doors.ts";
import type { OpenDoor } from "../doors.ts";
import { choose } from "./permission-answers.ts";
import { openStdioClient } from "../mcp/stdio-client.ts";
import { useTemporaryProject } from "../cli/temporary-project.ts";

const project = useTemporaryProject();
const agent = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));

/** An editor on a wrapped agent, with a session open. */
async function open(directory: string): Promise<OpenDoor> {
  for (const [file, text] of Object.entries(doorSkills)) project.write(`skills/${file}`, text);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = wrapCommand({
    command: process.execPath,
    args: [agent],
    input,
    output,
    options: {
      dataDirectory: project.at("data"),
      skills: [project.at("skills")],
      defaultRoots: false,
      log: silentLog,
    },
  });
  const client = openStdioClient(input, output, (message) => choose(message, "reject_once"));
  let id = 0;
  const ask = (method: string, params: object) =>
    client.ask({ jsonrpc: "2.0", id: ++id, method, params } as { readonly id: number });
  await ask("initialize", { protocolVersion: 1 });
  const { result: session } = await ask("session/new", { cwd: directory, mcpServers: [] });
  return {
    async call(tool, args) {
      const { result, error } = await ask(`_acp-skills/${tool}`, { ...args, sessionId: session?.sessionId });
      if (error !== undefined) return { error: error as { code: number; message: string; data: object } };
      return { result };
    },
    async close() {
      input.end();
      await ended;
    },
  };
}

describeDoors("ACP, for an editor", open, "people");
