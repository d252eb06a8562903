import { SkillsError, type SkillsErrorCode } from "../../../base/errors.ts";
import type { Fetcher, RemoteAnswer } from "../../fetch.ts";
import { type GitUrl, gitLimits, isCommit } from "../git.ts";
import { flushPacket, packetLine, readPackets } from "../../../wire/packet-lines.ts";
import { type GitClient, type GitRemote, keyHint, runGit } from "./program/run-git.ts";

/** The ids of branches, tags and `HEAD` by full name; `NAME^{}` is the commit of an annotated tag. */
export type Refs = ReadonlyMap<string, string>;

/** The URL of a repository after redirects, and its refs. */
export interface Advertised {
  readonly url: string;
  readonly refs: Refs;
}

const service = "git-upload-pack";

/**
 * Requests the commits of a ref over http(s), as git does but without git. With protocol version 2 only this ref is requested, else all
 * refs. The fetcher has checked the redirects; later fetches use the URL to which they led.
 */
export async function readRefs(
  { url, label }: GitUrl,
  ref: string | undefined,
  fetcher: Fetcher,
  signal: AbortSignal,
): Promise<Advertised> {
  const limits = { maxBytes: gitLimits.refsBytes, timeoutMs: gitLimits.refsMs };
  const headers = { "git-protocol": "version=2" };
  const suffix = `/info/refs?service=${service}`;
  const first = await fetcher.fetch({ url: url.replace(/\/$/, "") + suffix, headers, ...limits }, signal);
  checkAnswer(first, label);
  if (!first.url.endsWith(suffix)) throw notRepository(label);
  const base = first.url.slice(0, -suffix.length);
  const lines = toLines(first.body, label);
  if (!lines.includes("version 2")) return { url: base, refs: toRefs(lines) };
  const answer = await fetcher.fetch(
    {
      url: `${base}/${service}`,
      method: "POST",
      headers: {
        ...headers,
        "content-type": `application/x-${service}-request`,
        accept: `application/x-${service}-result`,
      },
      body: listRequest(ref, lines),
      ...limits,
    },
    signal,
  );
  checkAnswer(answer, label);
  return { url: base, refs: toRefs(toLines(answer.body, label)) };
}

/**
 * Returns the commit of a branch, a tag or HEAD. Throws SOURCE_INVALID if there is none. A full commit id is returned as it is, whether
 * the repository has it or not.
 */
export function findCommit(refs: Refs, ref: string | undefined, label: string): string {
  if (ref !== undefined && isCommit(ref)) return ref;
  for (const name of ref === undefined ? ["HEAD"] : candidates(ref)) {
    const commit = refs.get(`${name}^{}`) ?? refs.get(name);
    if (commit !== undefined) return commit;
  }
  const what = ref === undefined ? "no HEAD: it is empty" : `no branch or tag ${JSON.stringify(ref)}`;
  const facts = { hint: "Name a branch, a tag or a full commit id of 40 digits." };
  throw new SkillsError("SOURCE_INVALID", `${label} has ${what}.`, { facts });
}

/** Returns the full names of a ref: a branch before a tag of the same name, as `git clone --branch` does. */
function candidates(ref: string): readonly string[] {
  return ref.startsWith("refs/") || ref === "HEAD" ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

function listRequest(ref: string | undefined, capabilities: readonly string[]): string {
  const format = capabilities.find((line) => line.startsWith("object-format="));
  const wanted = ref === undefined || isCommit(ref) ? ["HEAD"] : candidates(ref);
  return [
    packetLine("command=ls-refs\n"),
    packetLine("agent=acp-skills"),
    ...(format === undefined ? [] : [packetLine(format)]),
    "0001",
    packetLine("peel\n"),
    ...wanted.map((name) => packetLine(`ref-prefix ${name}\n`)),
    flushPacket,
  ].join("");
}

const codes: Readonly<Record<number, SkillsErrorCode>> = {
  401: "AUTH_REQUIRED",
  403: "AUTH_REQUIRED",
  404: "SOURCE_INVALID",
  410: "SOURCE_INVALID",
  429: "RATE_LIMITED",
};

function checkAnswer({ status, headers, body }: RemoteAnswer, label: string): void {
  if (status !== 200) {
    const code = codes[status] ?? "ENDPOINT_UNREACHABLE";
    const hint =
      "It may not exist, or be private: a private repository is read by its ssh URL, git@HOST:OWNER/REPO.git.";
    const message = `${label} cannot be read: the host answered ${status}.`;
    throw new SkillsError(code, message, { facts: code === "AUTH_REQUIRED" ? { hint } : {} });
  }
  const isGit = headers["content-type"]?.startsWith(`application/x-${service}-`) === true;
  if (!isGit || body.length === 0) throw notRepository(label);
}

function notRepository(label: string): SkillsError {
  return new SkillsError("SOURCE_INVALID", `${label} is not a git repository that can be read over HTTP.`);
}

function toLines(body: Uint8Array, label: string): readonly string[] {
  const packets = readPackets(body);
  if (packets === undefined) throw notRepository(label);
  return packets.map((packet) => packet.replace(/\n$/, ""));
}

const refLine = /^([0-9a-f]{40}|[0-9a-f]{64}) (HEAD|refs\/[^\s\0]+)/;

/** Parses both forms: `ID NAME\0capabilities` of the old protocol, and `ID NAME peeled:ID` of version 2. */
function toRefs(lines: readonly string[]): Refs {
  const refs = new Map<string, string>();
  for (const line of lines) {
    const [whole, id, name] = refLine.exec(line) ?? [];
    if (whole === undefined || id === undefined || name === undefined) continue;
    refs.set(name, id);
    const [, peeled] = / peeled:([0-9a-f]{40,64})(?: |$)/.exec(line.slice(whole.length)) ?? [];
    if (peeled !== undefined) refs.set(`${name}^{}`, peeled);
  }
  return refs;
}

/** Lists the refs of a repository over ssh, which only git can contact. */
export async function listRefs(git: GitClient, remote: GitRemote, signal: AbortSignal): Promise<Refs> {
  const args = ["ls-remote", "-q", "--end-of-options", remote.url.url];
  const call = { args, remote, maxBytes: gitLimits.refsBytes, timeoutMs: gitLimits.refsMs };
  const { succeeded, stdout, stderr } = await runGit(git, call, signal);
  if (!succeeded) {
    const message = `${remote.url.label} cannot be read: git said: ${stderr}.`;
    throw new SkillsError("AUTH_REQUIRED", message, { facts: { hint: keyHint } });
  }
  const found = stdout.toString("utf8").matchAll(/^([0-9a-f]{40,64})\t(.+)$/gm);
  return new Map(Array.from(found, ([, id = "", name = ""]) => [name, id]));
}
