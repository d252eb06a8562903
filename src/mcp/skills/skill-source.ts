import { isUtf8 } from "node:buffer";
import { type ListResourcesResult, ProtocolError, type ServerContext } from "@modelcontextprotocol/server";
import {
  DIRECTORY_MIME_TYPE,
  type DirectoryResource,
  SKILL_LIMITS,
  type Skill as SkillEntry,
  SkillCatalogError,
  type SkillReadResult,
  type SkillSource as ExtensionSource,
  skillEntry,
} from "@modelcontextprotocol/server/ext/skills";
import { isSkillsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { decodedPath } from "../../base/paths/location.ts";
import { hasTags } from "../../base/text/unsafe-characters.ts";
import type { Skill } from "../../skills/skill.ts";
import { fromCursor, toCursor } from "../../runtime/tools.ts";
import { type SeenSkills, type SkillView, guideSkill, seeSkills } from "../../runtime/caller.ts";
import { type HashedFile, locateSkillFile, skillPathFault } from "../../skills/hash.ts";
import { type SkillSource, toMimeType } from "../../skills/files.ts";
import { toWireError } from "../../wire/error-table.ts";
import type { McpCaller, McpApp } from "../mcp-caller.ts";
import { maxReadFileBytes } from "../../wire/tools.ts";

/** A source that lists resources in pages, for which the library's port has no means. */
export interface PagedSource extends Omit<ExtensionSource, "listResources"> {
  /** Lists the SKILL.md of each skill. */
  listResources(params: { readonly cursor?: string | undefined }, context: ServerContext): Promise<ListResourcesResult>;
}

/** The maximum number of skills in a page of `skills/list` or `resources/list`: each of them is read and hashed. */
const pageSize = 50;

/**
 * Serves the caller's skills as resources `skill://<slug>/<path>` of the MCP Skills extension. The extension publishes frontmatter
 * unchanged, so skills that violate the Agent Skills rules or exceed its limits are available through the tools only. If a skill has
 * several versions, the newest is served.
 */
export function createSkillResources(
  app: Pick<McpApp, "source" | "hasher" | "log" | "policyFor" | "toolbox">,
  caller: McpCaller,
): PagedSource {
  const { hasher, log, toolbox } = app;
  const leftOut = new WeakSet<Skill>();

  /** Reads the skills that the caller sees now. */
  async function readSkills(): Promise<SeenSkills> {
    await caller.skills.ready;
    return seeSkills(caller, app.policyFor(caller.project), app.source);
  }

  async function toEntry(source: SkillSource, skill: Skill, signal: AbortSignal): Promise<SkillEntry | undefined> {
    try {
      return await readEntry(source, skill, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (!isSkillsError(error) && !(error instanceof SkillCatalogError) && !(error instanceof URIError)) throw error;
      const why = error instanceof SkillCatalogError ? error.problems.map(({ message }) => message) : [error.message];
      if (!leftOut.has(skill))
        log("info", `The skill ${skill.name} is not served over the MCP Skills extension: ${why.join("; ")}.`);
      leftOut.add(skill);
      return undefined;
    }
  }

  async function readEntry(source: SkillSource, skill: Skill, signal: AbortSignal): Promise<SkillEntry> {
    const { slug, directory } = skill;
    const { files, digest } = await hasher.hash(source, directory, signal, { maxBytes: SKILL_LIMITS.bytes });
    if (digest === undefined || files.length > SKILL_LIMITS.files) {
      throw new SkillCatalogError([{ path: slug, message: "too many files or bytes" }]);
    }
    // Clients compare this frontmatter with the result of their own parser, so the same library parses it here.
    const skillMd = readWhole(source, skill, "SKILL.md") ?? new Uint8Array();
    if (hasTags(Buffer.from(skillMd).toString("utf8"))) {
      throw new SkillCatalogError([{ path: slug, message: "SKILL.md contains invisible Unicode tags" }]);
    }
    const { uri, frontmatter } = await skillEntry(slug, { "SKILL.md": skillMd });
    const resources = files.map((file) => ({
      uri: toSkillUri({ slug, path: file.path }),
      digest: `sha256:${file.sha256}`,
      size: file.size_bytes,
    }));
    return { uri, frontmatter, resources };
  }

  /** Waits until the skill's files may be read: the user may have to allow those of a project's skills, but not names and descriptions. */
  async function untilAllowed(skill: Skill, signal: AbortSignal): Promise<void> {
    const { turn } = caller;
    // The caller is copied for each call: its session id may become known only after the server was opened.
    await toolbox.mayRead(skill, { ...caller }, turn === undefined ? signal : AbortSignal.any([signal, turn]));
  }

  /** Reads the bytes of a file; undefined for a file that read_skill_file would refuse or that cannot be read. */
  function readIfServed(source: SkillSource, { skill, path }: FoundFile): Uint8Array | undefined {
    try {
      return readWhole(source, skill, path);
    } catch (error) {
      if (!isSkillsError(error)) throw error;
      log("warning", `${path} of the skill ${skill.name} is not served as a resource: ${error.message}`);
      return undefined;
    }
  }

  async function readPage(cursor: string | undefined, signal: AbortSignal): Promise<SkillPage> {
    const after = cursor === undefined ? undefined : fromCursor(cursor, {}).name;
    const skills: SkillEntry[] = [];
    let last = "";
    let visited = 0;
    const { skills: view, source } = await readSkills();
    for (const skill of view.after(after, undefined)) {
      if (visited++ === pageSize) return { skills, nextCursor: toCursor({}, { name: last }) };
      last = skill.name;
      const entry = skill === guideSkill.skill ? undefined : await toEntry(source, skill, signal);
      if (entry !== undefined) skills.push(entry);
    }
    return { skills };
  }

  return {
    list: ({ cursor }, { mcpReq: { signal } }) => answer(log, signal, () => readPage(cursor, signal)),
    get: (uri, { mcpReq: { signal } }) =>
      answer(log, signal, async () => {
        const { skills: view, source } = await readSkills();
        const found = findSkill(view, uri, "SKILL.md");
        return found === undefined ? undefined : await toEntry(source, found.skill, signal);
      }),
    read: (uri, { mcpReq: { signal } }) =>
      answer(log, signal, async () => {
        const { skills: view, source } = await readSkills();
        const found = findSkill(view, uri);
        if (found === undefined) return undefined;
        await untilAllowed(found.skill, signal);
        const bytes = readIfServed(source, found);
        return bytes && toReadResult(bytes, found.path);
      }),
    readDirectory: (uri, _page, { mcpReq: { signal } }) =>
      answer(log, signal, async () => {
        const { skills: view, source } = await readSkills();
        // The URI may end with a slash.
        const found = findSkill(view, uri.replace(/\/$/, ""));
        if (found === undefined) return undefined;
        await untilAllowed(found.skill, signal);
        const { files } = await hasher.hash(source, found.skill.directory, signal, { maxBytes: SKILL_LIMITS.bytes });
        const resources = listDirectory(files, { slug: found.skill.slug, path: found.path });
        return resources && { resources };
      }),
    listResources: ({ cursor }, { mcpReq: { signal } }) =>
      answer(log, signal, async () => {
        const { skills, nextCursor } = await readPage(cursor, signal);
        const resources = skills.map(({ uri, frontmatter: { name, description } }) => ({
          uri,
          name,
          description,
          mimeType: toMimeType(uri),
        }));
        return { resources, ...(nextCursor !== undefined && { nextCursor }) };
      }),
  };
}

type SkillPage = Awaited<ReturnType<ExtensionSource["list"]>>;

interface FoundFile {
  readonly skill: Skill;
  readonly path: string;
}

/** Finds the skill and path that a URI names; undefined for an unknown skill or an invalid path. */
function findSkill(view: SkillView, uri: string, only?: string): FoundFile | undefined {
  const named = fromSkillUri(uri);
  if (named === undefined || (only !== undefined && named.path !== only)) return undefined;
  if (named.path !== "" && skillPathFault(named.path) !== undefined) return undefined;
  try {
    const { skill } = view.find(named.slug);
    return skill.slug === named.slug && skill !== guideSkill.skill ? { skill, path: named.path } : undefined;
  } catch (error) {
    if (isSkillsError(error, "SKILL_NOT_FOUND")) return undefined;
    throw error;
  }
}

function readWhole(source: SkillSource, skill: Skill, path: string): Uint8Array | undefined {
  const real = path === "" ? undefined : locateSkillFile(source, skill, path);
  const part = real === undefined ? undefined : source.bytes.head(real, maxReadFileBytes);
  return part !== undefined && part.bytes.length === part.size ? part.bytes : undefined;
}

/** Converts a file to a resource, unchanged: clients verify its digest. Text with Unicode tags, which are invisible, is sent as bytes. */
function toReadResult(bytes: Uint8Array, path: string): SkillReadResult {
  const mimeType = toMimeType(path);
  const text = isUtf8(bytes) ? Buffer.from(bytes).toString("utf8") : undefined;
  return text === undefined || hasTags(text) ? { bytes, mimeType } : { text, mimeType };
}

/** Rejects with ProtocolError if `work` fails, or with the reason of `signal` if that is aborted. */
async function answer<Value>(log: Log, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, data } = toWireError(error, { log });
    throw new ProtocolError(code, message, data);
  }
}

/** Returns the direct children of a directory of a skill; undefined if the directory has none. Pure. */
function listDirectory(files: readonly HashedFile[], { slug, path }: SkillUri): DirectoryResource[] | undefined {
  const prefix = path === "" ? "" : `${path}/`;
  const children = new Map<string, DirectoryResource>();
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const [name = "", ...below] = file.path.slice(prefix.length).split("/");
    const uri = toSkillUri({ slug, path: prefix + name });
    const kind =
      below.length > 0 ? { mimeType: DIRECTORY_MIME_TYPE } : { mimeType: toMimeType(file.path), size: file.size_bytes };
    children.set(name, { uri, name, ...kind });
  }
  return children.size === 0 ? undefined : [...children.values()];
}

/** A file of a skill in a `skill://` URI. */
export interface SkillUri {
  readonly slug: string;
  /** The path of the file, relative to the skill's directory, with `/`; empty for the directory itself. */
  readonly path: string;
}

/** Makes the canonical URI of a file. Throws URIError for a name with a lone surrogate. */
export function toSkillUri({ slug, path }: SkillUri): string {
  const segments = path === "" ? [] : path.split("/");
  return [`skill://${slug}`, ...segments.map((segment) => encodeURIComponent(segment))].join("/");
}

/**
 * Finds the file that a URI names; undefined for a URI that cannot name a file. Each segment is percent-decoded once; an encoded slash is
 * refused. The caller has to validate the path.
 */
export function fromSkillUri(text: string): SkillUri | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, hostname, username, password, pathname, search, hash } = new URL(text);
  const isPlain = protocol === "skill:" && host === hostname && host !== "";
  if (!isPlain || `${username}${password}${search}${hash}` !== "") return undefined;
  const path = decodedPath(pathname.slice(1));
  return path === undefined ? undefined : { slug: host, path };
}
