import { openTrust } from "../trust/open-trust.ts";
import { isSkillsError } from "../../../src/base/errors.ts";
import type { BlobStore, BlobOptions } from "../../../src/runtime/blobs.ts";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import { Catalog } from "../../../src/skills/skillset/catalog.ts";
import { type MemorySkillFiles, memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import { createSkillHasher } from "../../../src/skills/hash.ts";
import type { Root } from "../../../src/skills/skillset/roots.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { ToolCaller } from "../../../src/runtime/tools/tool.ts";
import { Toolbox, type ToolboxOptions } from "../../../src/runtime/tools/toolbox.ts";

/** A skill of either format, as files below `/skills`. */
export function agentSkill(name: string, extra = "", body = "# Body\n"): Record<string, string> {
  return { [`/skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Does ${name}.\n${extra}---\n${body}` };
}

export function protocolSkill(name: string, version = "1.0.0", extra = ""): Record<string, string> {
  const directory = `/skills/${name}`;
  return {
    [`${directory}/SKILL.md`]: `---\nname: Shown ${name}\nshort_description: Short.\ntags: [a, b]\n---\n# ${name}\n`,
    [`${directory}/skill.toml`]: `name = "${name}"\nversion = "${version}"\ndescription = "Does ${name}."\nkind = "instruction"\n${extra}`,
  };
}

export interface OpenTools {
  readonly files: MemorySkillFiles;
  readonly toolbox: Toolbox;
  readonly context: ToolCaller;
  readonly logged: string[];
  /** Reads the skills again. */
  readonly reload: () => Promise<unknown>;
  readonly call: (name: string, args?: unknown, context?: Partial<ToolCaller>) => Promise<unknown>;
}

/** Opens a toolbox over skills in memory. */
export async function openTools(
  skills: Readonly<Record<string, string | Uint8Array>>,
  {
    blobs = {},
    store = memoryBlobs(blobs),
    roots = [{ path: "/skills", origin: "explicit" }],
    ...options
  }: Partial<Omit<ToolboxOptions, "blobs">> & {
    blobs?: BlobOptions;
    store?: BlobStore;
    roots?: readonly Root[];
  } = {},
): Promise<OpenTools> {
  const files = memorySkillFiles(skills);
  files.makeDirectory("/skills");
  const logged: string[] = [];
  const log = (level: string, message: string) => void logged.push(`${level} ${message}`);
  const toolbox = new Toolbox({
    blobs: store,
    source: { files, bytes: memorySkillBytes(files) },
    hasher: createSkillHasher(),
    log,
    trust: openTrust().trust,
    ...options,
  });
  const catalog = new Catalog({ roots, files, clock: systemClock, log });
  await catalog.ready;
  const context: ToolCaller = { owner: "me", transport: "in-process", skills: catalog, sessionId: "s1" };
  return {
    files,
    toolbox,
    context,
    logged,
    reload: () => catalog.reload(),
    call: (name, args, extra) => toolbox.call(name, args, { ...context, ...extra }),
  };
}

/** The error that a call rejects with; fails if it succeeds. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ code: string; message: string } & Record<string, unknown>> {
  const error = await call.then(
    (answer) => {
      throw new Error(`expected a refusal, got ${JSON.stringify(answer)}`);
    },
    (reason: unknown) => reason,
  );
  if (!isSkillsError(error)) throw error;
  return { code: error.code, message: error.message, ...error.facts };
}
