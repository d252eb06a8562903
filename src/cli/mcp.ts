import path from "node:path";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import { serveMcp } from "../mcp/serve-mcp.ts";
import { readOptions } from "../options.ts";
import { diskSkillFiles } from "../skills/disk-skill-files.ts";
import { openSkillset } from "../skillset.ts";
import { diskSkillBytes } from "../tools/disk-skill-bytes.ts";
import { openSkillHasher } from "../tools/hash-skill.ts";
import { openToolbox } from "../tools/toolbox.ts";
import { openStderrLog } from "./open-log.ts";

/** What the server is asked. */
export interface McpArguments {
  readonly skills?: readonly string[];
  readonly "no-default-roots"?: boolean;
}

/** `acp-skills mcp`: serves one MCP client over stdio until it closes stdin. Its blobs live as long as this process. */
export async function runMcp({ skills, "no-default-roots": isNarrow }: McpArguments): Promise<number> {
  const log = openStderrLog((line) => process.stderr.write(line));
  const settings = readOptions({
    log,
    defaultRoots: isNarrow !== true,
    ...(skills !== undefined && { skills: skills.map((directory) => path.resolve(directory)) }),
  });
  const skillset = openSkillset(settings);
  const { catalog, problems } = skillset.openSession({ cwd: process.cwd() });
  for (const problem of problems) log("warning", problem);
  const blobs = memoryBlobs();
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const door = {
    toolbox: openToolbox({ blobs, source, log }),
    source,
    hasher: openSkillHasher(),
    log,
    version: settings.version,
  };
  try {
    const streams = { input: process.stdin, output: process.stdout };
    await serveMcp(door, { owner: `process:${process.pid}`, skills: catalog }, streams);
  } finally {
    await Promise.all([skillset.close(), blobs.close()]);
  }
  return 0;
}
