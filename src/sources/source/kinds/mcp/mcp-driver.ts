import { createHash } from "node:crypto";
import { SkillVerificationError, type Skill as SkillEntry } from "@modelcontextprotocol/client/ext/skills";
import { systemClock } from "../../../../base/clock.ts";
import { SkillsError, isSkillsError } from "../../../../base/errors.ts";
import { LimitedMap } from "../../../../base/limited-map.ts";
import { inParallel } from "../../../../base/promises.ts";
import { beginsAsScript } from "../../../../base/text/content.ts";
import { cutCodePoints } from "../../../../base/text/code-points.ts";
import { withoutControls } from "../../../../base/text/unsafe-characters.ts";
import type { SkillFile } from "../../../reader.ts";
import { describeSkills } from "../../../reader/trees.ts";
import type { PinnedContent, SourceDriver, SourceDriverOptions } from "../../source-kind.ts";
import { type ConnectedServer, connectServer, requestMs, toServerFault } from "./connect-server.ts";
import { parseServerText } from "./server-text.ts";
import { contentOfEntry, directoryOfEntry, filesOfEntry, pinOfEntry, shownUri, textOfEntry } from "./skill-entries.ts";
import { badSource } from "../../source-label.ts";

/** The time limit for all pages of a list, and for all files of a skill, in milliseconds. */
const totalMs = 120_000;
const filesAtOnce = 4;
const knownEntries = 10_000;
const maxReasonLength = 300;

export function openMcpDriver({ fetcher, clock = systemClock }: SourceDriverOptions): SourceDriver {
  const servers = new Map<string, Promise<ConnectedServer>>();
  const entries = new LimitedMap<string, SkillEntry>(knownEntries);

  /** Works with a server within the time limit. Connects at the first use, and again after a failure. */
  async function using<Result>(
    text: string,
    signal: AbortSignal,
    work: (server: ConnectedServer, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const late = new AbortController();
    const message = `The server did not answer completely within ${totalMs / 1_000} s; try again.`;
    const cancel = clock.after(totalMs, () => late.abort(new SkillsError("EXECUTION_TIMEOUT", message)));
    const stop = AbortSignal.any([signal, late.signal]);
    const connected = servers.get(text) ?? connect(text, stop);
    servers.set(text, connected);
    let server: ConnectedServer | undefined;
    try {
      server = await connected;
      return await work(server, stop);
    } catch (error) {
      const fault = stop.aborted ? (stop.reason as Error) : toServerFault(error, server?.failure());
      // The next answers of a faulty connection would be unpredictable.
      const isUsable = server !== undefined && server.failure() === undefined && isSkillsError(error);
      if (!isUsable && servers.get(text) === connected) servers.delete(text);
      if (!isUsable) await server?.close();
      throw fault;
    } finally {
      cancel();
    }
  }

  async function connect(text: string, signal: AbortSignal): Promise<ConnectedServer> {
    const location = parseServerText(text.replace(/^mcp:/, ""));
    if ("why" in location) throw new TypeError(location.why);
    return await connectServer(location, { fetcher, clock }, signal);
  }

  return {
    async readIndex(source, { signal, etags }) {
      const text = wholeText(source);
      const { skills: found, invalid } = await using(text, signal, ({ skills }, stop) =>
        skills.list({}, { signal: stop, timeout: requestMs }),
      );
      const digest = digestOf(found, invalid);
      if (etags?.[source.url] === digest) return "unchanged";
      for (const entry of found) entries.set(`${text} ${pinOfEntry(entry)}`, entry);
      const described = await describeSkills(
        found.map((entry) => ({
          directory: directoryOfEntry(entry),
          content: contentOfEntry(entry, text),
          fallback: entry.frontmatter.name,
          text: textOfEntry(entry),
          problems: [],
        })),
      );
      const refused = invalid.map(({ uri = "", reason }) => {
        const why = cutCodePoints(withoutControls(reason), maxReasonLength);
        return /more than once/.test(reason)
          ? `${shownUri(uri)} was listed more than once: the server may have changed its list while it was read; left out.`
          : `${shownUri(uri)} is left out: ${why}.`;
      });
      const isMoving = invalid.some(({ reason }) => /more than once/.test(reason));
      return {
        source,
        form: "scheme",
        skills: described.skills,
        problems: [...refused, ...described.problems],
        etags: { [source.url]: digest },
        ...(isMoving && { isPartial: true }),
      };
    },
    readFiles: (content, signal) =>
      using(content.source, signal, async (server, stop) => {
        const entry = await entryOf(content, server, stop);
        return await readSkill(entry, server, stop);
      }),
    async close() {
      const connected = await Promise.allSettled(servers.values());
      servers.clear();
      await Promise.all(connected.flatMap((one) => (one.status === "fulfilled" ? [one.value.close()] : [])));
    },
  };

  /** Returns the listed entry of a skill; requests it from the server if another process listed it. */
  async function entryOf({ source, pin, place }: PinnedContent, server: ConnectedServer, signal: AbortSignal) {
    const known = entries.get(`${source} ${pin}`);
    if (known !== undefined) return known;
    const { skill } = await server.skills.get(place, { signal, timeout: requestMs });
    if (pinOfEntry(skill) !== pin) throw changed(skill);
    return skill;
  }
}

/** Returns the text that identifies a server, with everything of its URL that the label does not show. */
function wholeText({ url, label }: { readonly url: string; readonly label: string }): string {
  return url === label ? label : `mcp:${url}`;
}

async function readSkill(entry: SkillEntry, { skills }: ConnectedServer, signal: AbortSignal): Promise<SkillFile[]> {
  const files = filesOfEntry(entry);
  if ("why" in files) throw badSource(`The skill cannot be installed: ${files.why}`);
  return await inParallel(files, filesAtOnce, async ({ uri, path }) => {
    try {
      const { bytes } = await skills.read(entry, uri, { signal, timeout: requestMs, cacheMode: "bypass" });
      // The protocol has no modes: a file that begins as a script is executable.
      return { path, bytes, executable: beginsAsScript(bytes) };
    } catch (error) {
      if (!(error instanceof SkillVerificationError)) throw error;
      const now = await skills.get(entry.uri, { signal, timeout: requestMs }).catch(() => undefined);
      if (now !== undefined && pinOfEntry(now.skill) !== pinOfEntry(entry)) throw changed(entry, error);
      throw unverified(path, error);
    }
  });
}

function changed({ uri }: SkillEntry, cause?: unknown): SkillsError {
  return badSource(`The server changed ${shownUri(uri)} after it had listed it; look again at what it offers`, cause);
}

/** Returns the error for a file that differs from its entry: nothing of the skill is used. */
function unverified(path: string, error: SkillVerificationError): SkillsError {
  const what = {
    unlisted: "the server does not list it",
    size: "it has another size than the server lists",
    digest: "it has another digest than the server lists",
    frontmatter: "its frontmatter is not what the server lists",
  }[error.reason];
  return badSource(`${JSON.stringify(path)} is refused: ${what}`, error);
}

function digestOf(
  found: readonly SkillEntry[],
  invalid: readonly { readonly uri?: string; readonly reason: string }[],
) {
  const all = [
    found.map((entry) => [pinOfEntry(entry), textOfEntry(entry)]),
    invalid.map(({ uri, reason }) => [uri, reason]),
  ];
  return `sha256:${createHash("sha256").update(JSON.stringify(all)).digest("hex")}`;
}
