import { openTrust } from "../runtime/trust/open-trust.ts";
import type { BlobStore } from "../../src/runtime/blobs.ts";
import { memoryBlobs } from "../runtime/blobs/memory-blobs.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { openLoopbackServer } from "../../src/mcp/session-servers/loopback-server.ts";
import { openSocketServer } from "../../src/mcp/session-servers/socket-server.ts";
import type { McpCaller, McpApp } from "../../src/mcp/mcp-caller.ts";
import { Catalog } from "../../src/skills/skillset/catalog.ts";
import { type MemorySkillFiles, memorySkillBytes, memorySkillFiles } from "../skills/files/memory-skill-files.ts";
import { createSkillHasher } from "../../src/skills/hash.ts";
import type { Runs } from "../../src/runtime/runs.ts";
import type { SkillSource } from "../../src/skills/files.ts";
import { Toolbox } from "../../src/runtime/tools/toolbox.ts";
import type { Trust } from "../../src/runtime/trust.ts";

export const skills = {
  "/skills/alpha/SKILL.md": "---\nname: alpha\ndescription: Does alpha.\nmetadata:\n  owner: me\n---\n# Alpha\n",
  "/skills/alpha/references/guide.md": "A guide – with a dash.\n",
  "/skills/alpha/assets/a & b.bin": new Uint8Array([0, 255, 1]),
  "/skills/beta/SKILL.md": "---\nname: beta\ndescription: Does beta.\n---\n# Beta\n",
  "/skills/sales.leads/SKILL.md": "---\nname: Leads\nshort_description: Leads.\n---\n# Leads\n",
  "/skills/sales.leads/skill.toml":
    'name = "sales.leads"\nversion = "1.2.0"\ndescription = "Does leads."\nkind = "instruction"\n',
};

export interface OpenMcpApp {
  readonly files: MemorySkillFiles;
  readonly blobs: BlobStore;
  readonly catalog: Catalog;
  readonly toolbox: Pick<Toolbox, "call">;
  readonly app: McpApp;
  readonly caller: McpCaller;
  readonly logged: string[];
  readonly server: ReturnType<typeof openLoopbackServer>;
  readonly sockets: ReturnType<typeof openSocketServer>;
}

/** An app over skills in memory, as MCP servers need it. `wrap` can decorate the toolbox. */
export async function openMcpApp(
  given: Readonly<Record<string, string | Uint8Array>> = skills,
  {
    wrap = (toolbox) => toolbox,
    source: other,
    runs,
    clock = systemClock,
    project,
    origin = "explicit",
    trust = openTrust().trust,
  }: {
    wrap?: (toolbox: Toolbox) => Pick<Toolbox, "call">;
    source?: SkillSource;
    runs?: Runs;
    clock?: Clock;
    project?: string;
    /** Where the skills come from. */
    origin?: "explicit" | "project";
    trust?: Trust;
  } = {},
): Promise<OpenMcpApp> {
  const files = memorySkillFiles(given);
  files.makeDirectory("/skills");
  const source = other ?? { files, bytes: memorySkillBytes(files) };
  const logged: string[] = [];
  const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
  const catalog = new Catalog({ roots: [{ path: "/skills", origin }], files, clock: systemClock, log });
  await catalog.ready;
  const hasher = createSkillHasher();
  const blobs = memoryBlobs();
  const opened = new Toolbox({ blobs, source, hasher, log, trust, ...(runs && { runs }) });
  const wrapped = wrap(opened);
  const toolbox: McpApp["toolbox"] = {
    call: (...given) => wrapped.call(...given),
    mayRead: (...given) => opened.mayRead(...given),
  };
  const app: McpApp = {
    toolbox,
    source,
    hasher,
    log,
    clock,
    policyFor: (at) => trust.policyFor(at),
    version: "0.0.0-test",
  };
  const caller: McpCaller = {
    transport: "mcp",
    owner: "me",
    sessionId: "s1",
    skills: catalog,
    ...(project !== undefined && { project }),
  };
  return {
    files,
    blobs,
    catalog,
    toolbox,
    app,
    caller,
    logged,
    server: openLoopbackServer(app),
    sockets: openSocketServer(app),
  };
}
