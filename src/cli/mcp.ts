import path from "node:path";
import { serveMcp } from "../mcp/serve-mcp.ts";
import { readOptions } from "../options.ts";
import { openSkillset } from "../skillset.ts";
import { localOwner, openToolkit } from "../toolkit.ts";
import { openStderrLog } from "./open-log.ts";

/** What the server is asked. */
export interface McpArguments {
  readonly skills?: readonly string[];
  readonly "no-default-roots"?: boolean;
  readonly cwd?: string;
}

/** `acp-skills mcp`: serves one MCP client over stdio until it closes stdin. Its blobs are those of the person at this machine. */
export async function runMcp({ skills, "no-default-roots": isNarrow, cwd = "." }: McpArguments): Promise<number> {
  const log = openStderrLog((line) => process.stderr.write(line));
  const settings = readOptions({ log, defaultRoots: isNarrow !== true, ...(skills !== undefined && { skills }) });
  const skillset = openSkillset(settings);
  const toolkit = openToolkit(settings);
  const { catalog, problems } = skillset.openSession({ cwd: path.resolve(cwd) });
  for (const problem of problems) log("warning", problem);
  try {
    const streams = { input: process.stdin, output: process.stdout };
    await serveMcp(toolkit, { owner: localOwner, skills: catalog }, streams);
  } finally {
    await Promise.all([skillset.close(), toolkit.close()]);
  }
  return 0;
}
