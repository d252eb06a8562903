import path from "node:path";
import type { BlobStore, BlobUpkeep, ListedBlob } from "../../blobs/blob-store.ts";
import { diskBlobs } from "../../blobs/disk/disk-blobs.ts";
import { isSkillsError } from "../../errors.ts";
import { nearest } from "../../base/nearest.ts";
import { readOptions } from "../../options.ts";
import { toContent } from "../../tools/view/content.ts";
import { defaultPreviewBytes } from "../../tools/input/limits.ts";
import { json, notes } from "../arguments/shared-options.ts";
import { defineCommand, usageError } from "../command.ts";
import type { OptionValues } from "../command.ts";
import { collect } from "../arguments/collect.ts";
import { jsonText } from "../report/json-text.ts";
import { safeLines, safeText } from "../report/safe-text.ts";
import { counted, table } from "../report/table.ts";
import type { Terminal } from "../report/terminal.ts";

const options = {
  raw: { type: "boolean", help: "With show: the same as read." },
  json,
} as const;

type BlobsOptions = OptionValues<typeof options>;
type Blobs = BlobStore & BlobUpkeep;
type Act = (blobs: Blobs, ids: readonly string[], options: BlobsOptions, terminal: Terminal) => Promise<number>;

const actions: Readonly<Record<string, { readonly act: Act; readonly minimum: number; readonly maximum: number }>> = {
  list: { act: list, minimum: 0, maximum: 0 },
  show: { act: show, minimum: 1, maximum: 1 },
  read: { act: read, minimum: 1, maximum: 1 },
  rm: { act: remove, minimum: 1, maximum: Infinity },
  sweep: { act: sweep, minimum: 0, maximum: 0 },
};

export const blobs = defineCommand({
  usage: "blobs list|show|read|rm|sweep [ID…] [options]",
  positionals: { name: "action: list, show, read, rm or sweep", minimum: 1, maximum: Infinity },
  options,
  examples: ["blobs list", "blobs read blob:ad71aad90100ebcbafda4ff4cb42b64d > out.json"],
  notes: [
    "list: all blobs, oldest first. show ID: its facts and its first 2,000 bytes. read ID: its content.",
    "rm ID…: delete it. sweep: delete expired blobs that are not in use, and what crashed processes left behind.",
    "Exits with 1 if there is no such blob.",
    notes.data,
  ],
  async run({ options: given, positionals: [action = "", ...ids] }, terminal) {
    const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (chosen === undefined) {
      const [close] = nearest(action, Object.keys(actions));
      throw usageError(`unknown action ${action}${close === undefined ? "" : `; did you mean blobs ${close}?`}`);
    }
    if (ids.length < chosen.minimum) throw usageError("missing ID");
    const surplus = ids[chosen.maximum];
    if (surplus !== undefined) throw usageError(`unexpected argument ${surplus}`);
    const directory = path.join(readOptions({}, { home: terminal.home }).dataDirectory, "blobs");
    const store = diskBlobs(directory);
    try {
      return await chosen.act(store, ids, given, terminal);
    } catch (error) {
      if (!isSkillsError(error)) throw error;
      const { limit, hint } = error.facts;
      terminal.tell(
        limit === "disk" ? `${error.message} ${String(hint)} The directory is ${directory}` : error.message,
      );
      return 1;
    } finally {
      await store.close();
    }
  },
});

async function list(
  blobs: Blobs,
  _ids: readonly string[],
  { json }: BlobsOptions,
  terminal: Terminal,
): Promise<number> {
  const all = (await collect(blobs.list())).sort((a, b) => a.createdAt - b.createdAt);
  if (json === true) await terminal.print([jsonText({ blobs: all.map(toShown) }, 2), "\n"]);
  else if (all.length === 0) terminal.tell("no blobs stored");
  else
    await terminal.print(
      table(["ID", "BYTES", "EXPIRES", "OWNER", "KIND"], all.map(toRow), terminal.columns, terminal.paint),
    );
  return 0;
}

async function show(blobs: Blobs, ids: readonly string[], given: BlobsOptions, terminal: Terminal): Promise<number> {
  if (given.raw === true) return await read(blobs, ids, given, terminal);
  const [id = ""] = ids;
  const blob = await find(blobs, id);
  if (blob === undefined) return noSuchBlob(id, terminal);
  const shown = toShown(blob);
  if (given.json === true) {
    await terminal.print([jsonText(shown, 2), "\n"]);
    return 0;
  }
  const length = Math.min(blob.size, defaultPreviewBytes);
  const start = Buffer.concat(await collect(blobs.read(blob.owner, id, { length })));
  const { content, encoding } = toContent(start, { end: length < blob.size });
  await terminal.print([
    ...Object.entries(shown).map(
      ([label, value]) => `${terminal.paint("dim", label.padEnd(12))}${safeText(String(value))}\n`,
    ),
    "\n",
    encoding === "utf-8" ? `${safeLines(content)}\n` : "(not text)\n",
    length < blob.size ? `… (${blob.size} bytes; all of it: acp-skills blobs read ${id})\n` : "",
  ]);
  return 0;
}

/** The unchanged bytes; on a terminal only text, with control characters escaped. */
async function read(
  blobs: Blobs,
  [id = ""]: readonly string[],
  _given: BlobsOptions,
  terminal: Terminal,
): Promise<number> {
  const blob = await find(blobs, id);
  if (blob === undefined) return noSuchBlob(id, terminal);
  const bytes = blobs.read(blob.owner, id);
  if (terminal.columns === undefined) {
    await terminal.pass(bytes);
    return 0;
  }
  const { content, encoding } = toContent(Buffer.concat(await collect(bytes)), { end: false });
  if (encoding === "utf-8") await terminal.print([safeLines(content), content.endsWith("\n") ? "" : "\n"]);
  else terminal.tell(`${id} is not text (${blob.kind}, ${blob.size} bytes); write it to a file with > FILE`);
  return encoding === "utf-8" ? 0 : 1;
}

async function remove(
  blobs: Blobs,
  ids: readonly string[],
  _options: BlobsOptions,
  terminal: Terminal,
): Promise<number> {
  let code = 0;
  for (const id of ids) {
    const blob = await find(blobs, id);
    if (blob === undefined) code = noSuchBlob(id, terminal);
    else await blobs.remove(blob.owner, id);
  }
  return code;
}

async function sweep(
  blobs: Blobs,
  _ids: readonly string[],
  { json }: BlobsOptions,
  terminal: Terminal,
): Promise<number> {
  const { removed, freedBytes, held } = await blobs.sweep();
  const shown = { removed, freed_bytes: freedBytes, in_use: held };
  const inUse = held > 0 ? `; ${counted(held, "expired blob")} still in use` : "";
  await terminal.print([
    json === true
      ? `${jsonText(shown, 2)}\n`
      : `${counted(removed, "blob")} removed, ${freedBytes} bytes freed${inUse}\n`,
  ]);
  return 0;
}

/** The blob with this id, of any owner. */
async function find(blobs: Blobs, id: string): Promise<ListedBlob | undefined> {
  for await (const blob of blobs.list()) if (blob.id === id) return blob;
  return undefined;
}

function noSuchBlob(id: string, terminal: Terminal): number {
  terminal.tell(`no such blob: ${id}; acp-skills blobs list shows all`);
  return 1;
}

/** Keys in a fixed order. */
function toShown({
  id,
  kind,
  size,
  sha256,
  owner,
  createdAt,
  expiresAt,
}: ListedBlob): Readonly<Record<string, unknown>> {
  const time = (milliseconds: number): string => new Date(milliseconds).toISOString();
  return { id, kind, size_bytes: size, sha256, owner, created_at: time(createdAt), expires_at: time(expiresAt) };
}

function toRow({ id, size, expiresAt, owner, kind }: ListedBlob): readonly string[] {
  return [id, String(size), new Date(expiresAt).toISOString().slice(0, 16), safeText(owner), safeText(kind)];
}
