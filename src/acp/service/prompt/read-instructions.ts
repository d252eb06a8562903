import type { FileHandle } from "node:fs/promises";
import { endOfText } from "../../../base/text/content.ts";
import { openHandleAtRealPath, openRegularFile } from "../../../base/paths/at-real-path.ts";
import { hasControls, withoutControls, hasInvisible, replaceInvisible } from "../../../base/text/unsafe-characters.ts";
import { runInSlices } from "../../../base/promises.ts";
import { type DirectoryEntry, diskSkillFiles } from "../../../skills/files.ts";
import { walkSkill } from "../../../skills/hash.ts";
import { byCodePoint } from "../../../base/text/code-points.ts";
import { type Skill, isSkillFileName } from "../../../skills/skill.ts";
import type { Instructions } from "../../skill-service.ts";

/** The maximum size of the body that is inserted into a prompt, in bytes. */
const bodyLimit = 256 * 1024;
/** The maximum size of the frontmatter, in bytes. It precedes the body and is not inserted. */
const frontmatterLimit = 1024 * 1024;
const filesLimit = 200;
/** The milliseconds for which files are listed before other messages get a turn. */
const listingSlice = 3;

/** Reads a skill when it is used. Rejects if SKILL.md is not a readable regular file. */
export async function readInstructions(skill: Skill): Promise<Instructions> {
  const [head, listing, { readSkillDocument }] = await Promise.all([
    readHead(openRegularFile(skill.file)),
    listFiles(skill.directory),
    import("../../../skills/document.ts"),
  ]);
  let { text, whole, changedAt } = head;
  let document = readSkillDocument(text);
  if (Object.keys(document.frontmatter).length === 0) {
    // Without frontmatter, the file may not be the SKILL.md that was scanned. It is read again, and a path through a new link is refused.
    ({ text, whole, changedAt } = await readHead(openHandleAtRealPath(skill.file)));
    document = readSkillDocument(text);
  }
  const body = Buffer.from(document.body);
  const isCut = body.length > bodyLimit;
  const shown = body.subarray(0, bodyLimit);
  const end = isCut ? endOfText(shown) : shown.length;
  return { body: shown.toString("utf8", 0, end), truncated: !whole || isCut, changedAt, ...listing };
}

const limit = frontmatterLimit + bodyLimit;

async function readHead(opening: Promise<FileHandle>): Promise<{ text: string; whole: boolean; changedAt: number }> {
  const handle = await opening;
  try {
    const stats = await handle.stat();
    const buffer = Buffer.alloc(Math.min(stats.size, limit));
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const whole = stats.size <= limit;
    const text = buffer.toString("utf8", 0, whole ? length : endOfText(buffer.subarray(0, length)));
    return { text, whole, changedAt: Math.max(stats.mtimeMs, stats.ctimeMs) };
  } finally {
    await handle.close();
  }
}

/** Lists the other files of the skill, those near the top first. Files of packages and nested skills are omitted. */
async function listFiles(directory: string): Promise<Pick<Instructions, "files" | "moreFiles">> {
  const isLeftOut = (path: string, entries: readonly DirectoryEntry[]): boolean =>
    path.endsWith("node_modules/") || entries.some(({ name }) => isSkillFileName(name));
  const walk = walkSkill(diskSkillFiles(), directory, isLeftOut);
  const { files, complete } = await runInSlices(walk, { now: () => performance.now(), slice: listingSlice });
  const paths = files.map(({ path }) => path).filter((path) => !isSkillFileName(path));
  paths.sort((a, b) => depthOf(a) - depthOf(b) || byCodePoint(a, b));
  return { files: paths.slice(0, filesLimit).map(toLine), moreFiles: !complete || paths.length > filesLimit };
}

function depthOf(path: string): number {
  return path.split("/").length;
}

/** Converts a path to one line of a prompt. Paths with control or invisible characters are quoted: they could pass for instructions. */
function toLine(path: string): string {
  const isPlain = !/[\n\t]/.test(path) && !hasControls(path) && !hasInvisible(path);
  return isPlain ? path : replaceInvisible(withoutControls(JSON.stringify(path)), () => "");
}
