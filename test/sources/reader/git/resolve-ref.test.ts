import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Fetcher, RemoteRequest } from "../../../../src/sources/fetch.ts";
import { parseGitUrl } from "../../../../src/sources/reader/git.ts";
import { packetLine, readPackets } from "../../../../src/wire/packet-lines.ts";
import { findCommit, readRefs } from "../../../../src/sources/reader/git/resolve-ref.ts";

const [a, b, c] = ["a", "b", "c"].map((digit) => digit.repeat(40)) as [string, string, string];
const url = parseGitUrl("https://git.example.com/o/r.git");
const signal = new AbortController().signal;
const advertisement = "application/x-git-upload-pack-advertisement";
const result = "application/x-git-upload-pack-result";

interface Scripted {
  readonly status?: number;
  readonly body?: string;
  readonly type?: string;
  readonly url?: string;
}

function fetcherOf(...answers: readonly Scripted[]): { readonly fetcher: Fetcher; readonly asked: RemoteRequest[] } {
  const asked: RemoteRequest[] = [];
  const fetcher: Fetcher = {
    fetch(request) {
      const { status = 200, body = "", type = advertisement, url: at = request.url } = answers[asked.length] ?? {};
      asked.push(request);
      return Promise.resolve({ status, headers: { "content-type": type }, body: Buffer.from(body), url: at });
    },
    leadsInside: () => false,
    close: () => Promise.resolve(),
  };
  return { fetcher, asked };
}

const old = [
  packetLine("# service=git-upload-pack\n"),
  "0000",
  packetLine(`${a} HEAD\0 multi_ack symref=HEAD:refs/heads/main\n`),
  packetLine(`${a} refs/heads/main\n`),
  packetLine(`${b} refs/tags/v1\n`),
  packetLine(`${c} refs/tags/v1^{}\n`),
  packetLine(`${b} refs/heads/v1\n`),
  packetLine(`${c} refs/heads/feature/x\n`),
  "0000",
].join("");

test.each([
  [undefined, a],
  ["HEAD", a],
  ["main", a],
  ["feature/x", c],
  // A branch before a tag of the same name; an annotated tag is the commit that it names.
  ["v1", b],
  ["refs/tags/v1", c],
  [c, c],
])("finds the commit of %j in what an old server lists", async (ref, commit) => {
  const { fetcher } = fetcherOf({ body: old });
  const { refs } = await readRefs(url, ref, fetcher, signal);
  expect(findCommit(refs, ref, url.label)).toBe(commit);
});

test("asks a server of protocol version 2 only for the ref that is wanted", async () => {
  const { fetcher, asked } = fetcherOf(
    { body: `${packetLine("version 2\n")}${packetLine("ls-refs\n")}${packetLine("object-format=sha1\n")}0000` },
    { type: result, body: `${packetLine(`${b} refs/tags/v1 peeled:${c}\n`)}0000` },
  );
  const { refs } = await readRefs(url, "v1", fetcher, signal);
  expect(findCommit(refs, "v1", url.label)).toBe(c);
  expect(asked.map(({ method = "GET", url: at }) => `${method} ${at}`)).toEqual([
    "GET https://git.example.com/o/r.git/info/refs?service=git-upload-pack",
    "POST https://git.example.com/o/r.git/git-upload-pack",
  ]);
  expect(readPackets(Buffer.from(asked[1]?.body ?? ""))).toEqual([
    "command=ls-refs\n",
    "agent=acp-skills",
    "object-format=sha1",
    "peel\n",
    "ref-prefix refs/heads/v1\n",
    "ref-prefix refs/tags/v1\n",
  ]);
});

test("goes on where a redirect led", async () => {
  const moved = "https://git.example.com/new/name.git";
  const { fetcher } = fetcherOf({ body: old, url: `${moved}/info/refs?service=git-upload-pack` });
  expect((await readRefs(url, undefined, fetcher, signal)).url).toBe(moved);
  const page = fetcherOf({ body: old, url: "https://git.example.com/login" });
  await expect(readRefs(url, undefined, page.fetcher, signal)).rejects.toMatchObject({ code: "SOURCE_INVALID" });
});

test.each([
  [{ status: 401 }, "AUTH_REQUIRED"],
  [{ status: 404 }, "SOURCE_INVALID"],
  [{ status: 429 }, "RATE_LIMITED"],
  [{ status: 503 }, "ENDPOINT_UNREACHABLE"],
  [{ type: "text/html", body: "<html>" }, "SOURCE_INVALID"],
  [{ body: "zzzz" }, "SOURCE_INVALID"],
  [{ body: "00ffshort" }, "SOURCE_INVALID"],
])("refuses the answer %j with %s", async (answer, code) => {
  await expect(readRefs(url, undefined, fetcherOf(answer).fetcher, signal)).rejects.toMatchObject({ code });
});

test("says that a ref is not there, and what to name instead", () => {
  expect(() => findCommit(new Map(), "no", "example.com/r")).toThrow('example.com/r has no branch or tag "no".');
  expect(() => findCommit(new Map(), undefined, "example.com/r")).toThrow("it is empty");
});

test("reads every text that it frames, and no other bytes for ever", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 80 })), (texts) => {
      expect(readPackets(Buffer.from(`${texts.map(packetLine).join("")}0000`))).toEqual(texts);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const packets = readPackets(bytes);
      expect((packets ?? []).length).toBeLessThanOrEqual(bytes.length);
    }),
  );
});
