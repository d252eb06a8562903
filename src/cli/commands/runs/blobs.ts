import path from "node:path";
import { buffer } from "node:stream/consumers";
import { type BlobStore, type BlobUpkeep, type ListedBlob, diskBlobs } from "../../../runtime/blobs.ts";
import { isSkillsError } from "../../../base/errors.ts";
import { toContent } from "../../../base/text/content.ts";
import { json, dataNote } from "../../arguments/shared-options.ts";
import { oneOf } from "../../arguments/values.ts";
import { defineCommand, usageError, type ExitCode, exit } from "../../command.ts";
import { collect } from "../../data-directory.ts";
import { defaultDataDirectory } from "../../../base/paths/directories.ts";
import { table } from "../../report/table.ts";
import { counted } from "../../../base/text/code-points.ts";
import { labelled, safeLines, safeText } from "../../report/safe-text.ts";
import type { Terminal } from "../../report/terminal.ts";
import { defaultPreviewBytes } from "../../../wire/tools.ts";

interface Asked {
  readonly blobs: BlobStore & BlobUpkeep;
  readonly ids: readonly string[];
  readonly asJson: boolean;
  readonly terminal: Terminal;
}

/** Every action, with the minimum and maximum number of its ids. */
const actions: Readonly<Record<string, { act(asked: Asked): Promise<ExitCode>; min: number; max: number }>> = {
  list: { act: list, min: 0, max: 0 },
  show: { act: (asked) => withBlob(asked, show), min: 1, max: 1 },
  read: { act: (asked) => withBlob(asked, read), min: 1, max: 1 },
  rm: { act: remove, min: 1, max: Infinity },
  sweep: { act: sweep, min: 0, max: 0 },
};
const choices = oneOf(Object.keys(actions));

export const command = defineCommand({
  usage: `blobs ${Object.keys(actions).join("|")} [ID…] [options]`,
  positionals: { name: `action: ${choices}`, minimum: 1, maximum: Infinity, values: Object.keys(actions) },
  options: { json },
  examples: ["blobs list", "blobs read blob:ad71aad90100ebcbafda4ff4cb42b64d > out.json"],
  notes: [
    "list: all blobs, oldest first. show ID: its facts and its first 2,000 bytes. read ID: its content.",
    "rm ID…: delete blobs. sweep: delete expired blobs that are not in use, and what crashed processes left behind.",
    dataNote,
  ],
  async run({ options, positionals: [action = "", ...ids] }, terminal) {
    const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (chosen === undefined) throw usageError(`unknown action ${action}; use ${choices}`);
    if (ids.length < chosen.min) throw usageError("missing ID");
    const surplus = ids[chosen.max];
    if (surplus !== undefined) throw usageError(`unexpected argument ${surplus}`);
    const directory = path.join(defaultDataDirectory(terminal.home), "blobs");
    const blobs = diskBlobs(directory);
    try {
      return await chosen.act({ blobs, ids, asJson: options.json === true, terminal });
    } catch (error) {
      if (!isSkillsError(error)) throw error;
      const { limit, hint } = error.facts;
      const disk = limit === "disk" ? ` ${String(hint)} The directory is ${directory}` : "";
      terminal.note(`${error.message}${disk}`);
      return exit.unable;
    } finally {
      await blobs.close();
    }
  },
});

async function list({ blobs, asJson, terminal }: Asked): Promise<ExitCode> {
  const all = (await collect(blobs.list())).sort((a, b) => a.createdAt - b.createdAt);
  if (asJson) await terminal.printJson({ blobs: all.map(toShown) });
  else if (all.length === 0) terminal.note("no blobs stored");
  else await terminal.print(table(["ID", "BYTES", "EXPIRES", "OWNER", "KIND"], all.map(toRow), terminal));
  return exit.done;
}

async function show(blob: ListedBlob, { blobs, asJson, terminal }: Asked): Promise<ExitCode> {
  const { id, owner, size } = blob;
  const shown = toShown(blob);
  if (asJson) {
    await terminal.printJson(shown);
    return exit.done;
  }
  const length = Math.min(size, defaultPreviewBytes);
  const { content, encoding } = toContent(await buffer(blobs.read(owner, id, { length })), { end: length < size });
  const line = labelled(terminal.paint, 12);
  await terminal.print([
    ...Object.entries(shown).map(([label, value]) => line(label, String(value))),
    "\n",
    encoding === "utf-8" ? `${safeLines(content)}\n` : "(not text)\n",
    length < size ? `… (${size} bytes; all of it: acp-skills blobs read ${id})\n` : "",
  ]);
  return exit.done;
}

/** Prints the unchanged bytes; on a terminal only text, with control characters escaped. */
async function read(blob: ListedBlob, { blobs, asJson, terminal }: Asked): Promise<ExitCode> {
  const { id, owner, kind, size } = blob;
  const bytes = blobs.read(owner, id);
  if (!asJson && terminal.columns === undefined) {
    await terminal.pass(bytes);
    return exit.done;
  }
  const { content, encoding } = toContent(await buffer(bytes), { end: false });
  if (asJson) await terminal.printJson({ ...toShown(blob), encoding, content });
  else if (encoding === "utf-8") await terminal.print([safeLines(content), content.endsWith("\n") ? "" : "\n"]);
  else terminal.note(`${id} is not text (${kind}, ${size} bytes); write it to a file with > FILE`);
  return asJson || encoding === "utf-8" ? exit.done : exit.unable;
}

async function remove({ ids, ...asked }: Asked): Promise<ExitCode> {
  const removed: string[] = [];
  for (const id of ids)
    await withBlob({ ...asked, ids: [id] }, async ({ owner }, { blobs }) => {
      await blobs.remove(owner, id);
      removed.push(id);
      return exit.done;
    });
  if (asked.asJson) await asked.terminal.printJson({ removed });
  return removed.length === ids.length ? exit.done : exit.unable;
}

async function sweep({ blobs, asJson, terminal }: Asked): Promise<ExitCode> {
  const { removed, freedBytes, held } = await blobs.sweep();
  const inUse = held > 0 ? `; ${counted(held, "expired blob")} still in use` : "";
  if (asJson) await terminal.printJson({ removed, freed_bytes: freedBytes, in_use: held });
  else await terminal.print([`${counted(removed, "blob")} removed, ${freedBytes} bytes freed${inUse}\n`]);
  return exit.done;
}

/** Acts on the blob with the first id, of any owner; reports if there is none. */
async function withBlob(asked: Asked, act: (blob: ListedBlob, asked: Asked) => Promise<ExitCode>): Promise<ExitCode> {
  const { blobs, ids, terminal } = asked;
  const [id = ""] = ids;
  for await (const blob of blobs.list()) if (blob.id === id) return await act(blob, asked);
  terminal.note(`no such blob: ${id}; acp-skills blobs list shows all`);
  return exit.unable;
}

/** A blob as JSON, with keys in a fixed order. */
function toShown(blob: ListedBlob): Readonly<Record<string, unknown>> {
  const { id, kind, size, sha256, owner, createdAt, expiresAt } = blob;
  const time = (ms: number): string => new Date(ms).toISOString();
  return { id, kind, size_bytes: size, sha256, owner, created_at: time(createdAt), expires_at: time(expiresAt) };
}

function toRow({ id, size, expiresAt, owner, kind }: ListedBlob): readonly string[] {
  return [id, String(size), new Date(expiresAt).toISOString().slice(0, 16), safeText(owner), safeText(kind)];
}
