import { constants, type Dirent } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Skill } from "../skills/skill.ts";
import type { Instructions } from "./prompt.ts";

/** The most of SKILL.md that is put into a prompt. */
const bodyLimit = 256 * 1024;
/** Frontmatter stands before the body and does not count; it is never longer than this. */
const frontmatterLimit = 1024 * 1024;
const filesLimit = 200;
const directoriesLimit = 500;
/** Without O_NONBLOCK, opening a FIFO waits for somebody to write to it. Windows has neither. */
const openFlags = constants.O_RDONLY | ((constants as Partial<typeof constants>).O_NONBLOCK ?? 0);
const notListed = new Set(["node_modules", "__pycache__"]);

/** Reads a skill at the moment it is used. Throws where SKILL.md is not a readable regular file. */
export async function readInstructions(skill: Skill): Promise<Instructions> {
  const [{ text, whole, changedAt }, listing, { readSkillDocument }] = await Promise.all([
    readHead(skill.file, frontmatterLimit + bodyLimit),
    listFiles(skill.directory),
    import("../skills/skill-document.ts"),
  ]);
  const body = Buffer.from(readSkillDocument(text).body);
  const kept = body.length > bodyLimit ? cutAtCharacter(body, bodyLimit) : body;
  return { body: kept.toString(), truncated: !whole || kept.length < body.length, changedAt, ...listing };
}

async function readHead(file: string, limit: number): Promise<{ text: string; whole: boolean; changedAt: number }> {
  const handle = await open(file, openFlags);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${file} is not a regular file`);
    const buffer = Buffer.alloc(Math.min(stats.size, limit));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const whole = stats.size <= limit;
    const bytes = buffer.subarray(0, length);
    return {
      text: (whole ? bytes : cutAtCharacter(bytes, bytes.length - 4)).toString(),
      whole,
      changedAt: Math.max(stats.mtimeMs, stats.ctimeMs),
    };
  } finally {
    await handle.close();
  }
}

/** The first `limit` bytes or a little less, so that no UTF-8 character is cut in two. */
function cutAtCharacter(bytes: Buffer, limit: number): Buffer {
  let end = Math.min(Math.max(limit, 0), bytes.length);
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

/** Lists what lies beside SKILL.md, breadth first, without dot-files and without following links. */
async function listFiles(root: string): Promise<Pick<Instructions, "files" | "moreFiles">> {
  const files: string[] = [];
  const waiting = [""];
  for (let visited = 0; visited < directoriesLimit; visited++) {
    const directory = waiting.shift();
    if (directory === undefined) return { files, moreFiles: false };
    for (const entry of await readEntries(join(root, directory))) {
      if (entry.name.startsWith(".") || notListed.has(entry.name)) continue;
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile() && path.toLowerCase() !== "skill.md") files.push(path);
      if (files.length > filesLimit) return { files: files.slice(0, filesLimit), moreFiles: true };
    }
  }
  return { files, moreFiles: true };
}

async function readEntries(directory: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // The list is a help; a directory that cannot be listed is simply not in it.
    return [];
  }
}
