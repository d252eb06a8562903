import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { SkillsError, isSkillsError } from "../../../../../src/base/errors.ts";
import type { RemoteSkill } from "../../../../../src/sources/reader.ts";
import { parseSource } from "../../../../../src/sources/source.ts";
import { openSourceReader } from "../../../../../src/sources/reader.ts";
import { readLayers } from "../../../../../src/sources/source/kinds/oci/layers.ts";
import { OciRegistry } from "../../../../../src/sources/source/kinds/oci/registry.ts";
import { openFetcher } from "../../../../../src/sources/fetch.ts";
import { parseOciManifest } from "../../../../../src/sources/source/kinds/oci/manifest.ts";
import { manualClock } from "../../../../manual-clock.ts";
import type { tarEntry } from "../../../archive/tar-blocks.ts";
import { tarOf } from "../../../archive/tar-blocks.ts";
import { type Answer, answers, gzipOfZeros } from "../../../hostile-server.ts";
import { type Artifact, type Piece, agentSkills, indexOf, layerOf, manifestOf, piece, plain, pushArtifact, sha256, skillFiles, skillMd, toolHive } from "./artifacts.ts"; // prettier-ignore
import { type FakeRegistry, openFakeRegistry } from "./fake-registry.ts";

const { signal } = new AbortController();
const layerType = "application/vnd.oci.image.layer.v1.tar+gzip";

/** A registry that has an artifact as `skills:1`, and a reader of it. */
async function serve(artifact: Artifact, clock = manualClock()) {
  const registry = await openFakeRegistry();
  await pushArtifact(`http://${registry.host}/v2/skills`, "1", artifact);
  const reader = openSourceReader({ allowPrivate: [registry.host], clock });
  onTestFinished(() => reader.close());
  const source = parseSource(`oci://${registry.host}/skills:1`);
  const list = async (): Promise<readonly RemoteSkill[]> => (await reader.list(source, signal)).skills;
  /** Lists, and downloads what is listed. */
  const install = async (): Promise<void> => {
    for (const skill of await list()) await reader.skillFiles(skill, signal);
  };
  return { registry, reader, source, list, install, clock };
}

/** Answers requests whose path matches in place of the registry. */
function answerAt(registry: FakeRegistry, path: RegExp, answer: Answer): void {
  registry.instead = (request, response) => {
    if (!path.test(request.url ?? "")) return false;
    answer(request, response);
    return true;
  };
}

const tar = (...entries: readonly Parameters<typeof tarEntry>[0][]): Piece =>
  piece(gzipSync(tarOf(...entries)), layerType);
const md = { name: "pdf/SKILL.md", content: skillMd("pdf") };

describe("a registry that answers badly is refused in a sentence", () => {
  test.each([
    ["endlessly", /manifests/, answers.endlessly(200), "sent more than 4194304 bytes, the limit for this answer."],
    ["with a page", /manifests/, answers.bytes("<html>", { "content-type": "text/html" }), "skills:1 is no manifest: it is not a JSON object."], // prettier-ignore
    ["with an error", /manifests/, answers.status(503, { "retry-after": "7" }), /answered with status 503 for the manifest \S+skills:1; try again after 7 s\.$/], // prettier-ignore
    ["with too many requests", /manifests/, answers.status(429), "answered with status 429 for the manifest"],
    ["with a refusal", /manifests/, answers.status(403), /status 403 for the manifest .*, which needs credentials: docker login 127\.0\.0\.1:\d+, or --token env:NAME\.$/], // prettier-ignore
    ["compressed", /manifests/, answers.bytes(gzipSync("{}"), { "content-encoding": "gzip" }), "sent a compressed answer"], // prettier-ignore
    ["with half of it", /manifests/, answers.truncated(Buffer.from("{}")), "closed the connection before the answer was complete"], // prettier-ignore
    ["with another digest than it says", /manifests/, answers.bytes("{}", { "docker-content-digest": `sha256:${"0".repeat(64)}` }), /skills:1 is not what was asked for: its digest is sha256:44136\S+ instead of sha256:0+\.$/], // prettier-ignore
    ["with redirects without end", /manifests/, answers.redirect("/v2/skills/manifests/1"), "redirects more than 5 times"], // prettier-ignore
    ["with a layer without end", /blobs/, answers.endlessly(200), /^The layer 1 of 1 has more than the \d+ bytes that its manifest says\.$/], // prettier-ignore
    ["with a shorter layer", /blobs/, answers.bytes("x"), /^The layer 1 of 1 has 1 bytes instead of the \d+ that its manifest says\.$/], // prettier-ignore
    ["with no layer", /blobs/, answers.status(404), "answered with status 404 for the layer 1 of 1."],
  ])("%s", async (_how, path, answer, sentence) => {
    const { registry, install } = await serve(await plain(skillFiles("pdf")));
    answerAt(registry, path, answer);
    await expect(install()).rejects.toThrow(sentence);
  });

  test("with a layer of the same size and another digest", async () => {
    const artifact = await plain(skillFiles("pdf"));
    const { registry, install } = await serve(artifact);
    answerAt(registry, /blobs/, answers.bytes(Buffer.alloc(artifact.blobs[1]?.bytes.length ?? 0)));
    await expect(install()).rejects.toThrow(
      /^The layer 1 of 1 is not what was asked for: its digest is sha256:\S+ instead of sha256:/,
    );
  });

  test("with another manifest than the digest names", async () => {
    const { registry, install, list } = await serve(await toolHive("pdf"));
    const [skill] = await list();
    expect(skill?.name).toBe("pdf");
    answerAt(registry, /manifests\/sha256:/, answers.bytes(JSON.stringify({ schemaVersion: 2 })));
    await expect(install()).rejects.toThrow(/^The manifest \S+ is not what was asked for: its digest is/);
  });

  test.each([
    ["nothing", answers.silent],
    ["a byte now and then", answers.dripping],
  ])("slowly, with %s", async (_what, answer) => {
    const { registry, list, clock } = await serve(await plain(skillFiles("pdf")));
    answerAt(registry, /manifests/, answer);
    const before = registry.asked.length;
    const listing = list();
    listing.catch(() => undefined);
    await expect.poll(() => registry.asked.length).toBeGreaterThan(before);
    clock.pass(20_000);
    await expect(listing).rejects.toThrow("did not answer completely within 20 s; try again.");
  });
});

test("layers that arrive one after the other, each in time, do not take longer than all may", async () => {
  const registry = await openFakeRegistry();
  registry.instead = () => true;
  const fetcher = openFetcher({ allowPrivate: [registry.host] });
  onTestFinished(() => fetcher.close());
  const place = { registry: registry.host, repository: "skills" };
  const oci = new OciRegistry(place, { action: "pull", fetcher, find: () => Promise.resolve(undefined) });
  const { top } = await plain(skillFiles("pdf"));
  const manifest = parseOciManifest(top.bytes, "The manifest");
  if (manifest.type !== "manifest") throw new Error("It is an index.");
  await expect(readLayers(manifest, oci, signal, 1)).rejects.toThrow(
    /^The layers of \S+\/skills did not arrive within 0\.001 s; try again\.$/,
  );
});

describe("what a registry has is refused in a sentence", async () => {
  const artifact = await plain(skillFiles("pdf"));
  const { top, blobs } = artifact;
  const manifest = JSON.parse(Buffer.from(top.bytes).toString()) as Readonly<Record<string, unknown>>;
  const [config, layer] = blobs.map(({ descriptor }) => descriptor);
  const many = (count: number) => Array.from({ length: count }, () => top.descriptor);

  test.each([
    ["a manifest list of 10,000 entries", { schemaVersion: 2, manifests: many(10_000) }, /skills:1 lists 10000 manifests; the limit is 256\.$/], // prettier-ignore
    ["10,000 layers", { ...manifest, layers: Array.from({ length: 10_000 }, () => layer) }, /lists 10000 layers; the limit is 64\.$/], // prettier-ignore
    ["too many values", { ...manifest, annotations: Object.fromEntries(Array.from({ length: 210_000 }, (_, index) => [`${index}`, ""])) }, "has more than 200000 keys and values."], // prettier-ignore
    ["a manifest that is also an index", { ...manifest, manifests: [] }, "is neither a manifest with layers nor an index of manifests."], // prettier-ignore
    ["a manifest that is neither", { schemaVersion: 2, blobs: [] }, "is neither a manifest with layers nor an index of manifests."], // prettier-ignore
    ["a manifest of the first version", { schemaVersion: 1, fsLayers: [] }, "has a schemaVersion other than 2; push it again with a current tool."], // prettier-ignore
    ["the media type of an index", { ...manifest, mediaType: "application/vnd.oci.image.index.v1+json" }, 'has the media type "application/vnd.oci.image.index.v1+json", and the content of another.'], // prettier-ignore
    ["a digest of another kind", { ...manifest, layers: [{ ...layer, digest: "md5:0cc175b9c0f1b6a831c399e269772661" }] }, "is not valid: layers.0.digest: the digest is neither sha256 nor sha512."], // prettier-ignore
    ["a negative size", { ...manifest, layers: [{ ...layer, size: -1 }] }, "is not valid: layers.0.size:"],
    ["a layer of 1 GiB", { ...manifest, layers: [{ ...layer, size: 2 ** 30 }] }, "The layers have 1073741824 bytes; the limit is 52428800."], // prettier-ignore
    ["a layer that is elsewhere", { ...manifest, layers: [{ ...layer, urls: ["https://example.com/x"] }] }, "The layer 1 of 1 is somewhere else than in the registry."], // prettier-ignore
    ["a layer without a name", { ...manifest, layers: [{ ...config, mediaType: "application/json" }] }, "The layer 1 of 1 is neither an archive nor a file with a title."], // prettier-ignore
    ["no layer", { ...manifest, layers: [] }, "holds no SKILL.md."],
    ["a list of others' manifests", { schemaVersion: 2, manifests: [{ ...top.descriptor, digest: `sha256:${"1".repeat(64)}`, platform: { os: "linux", architecture: "arm64" } }] }, /has no manifest sha256:1+, which its index lists\.$/], // prettier-ignore
  ])("%s", async (_what, content, sentence) => {
    const type = "manifests" in content ? "application/vnd.oci.image.index.v1+json" : "application/vnd.oci.image.manifest.v1+json"; // prettier-ignore
    const { install } = await serve({ blobs, manifests: [], top: piece(content, type) });
    await expect(install()).rejects.toThrow(sentence);
  });

  test("a Content-Type that says something else", async () => {
    const { registry, install } = await serve(artifact);
    answerAt(registry, /manifests/, answers.bytes(top.bytes, { "content-type": "application/vnd.oci.image.index.v1+json; charset=utf-8" })); // prettier-ignore
    await expect(install()).rejects.toThrow(
      'has the media type "application/vnd.oci.image.index.v1+json", and the content of another.',
    );
  });

  test.each([
    ["a symlink out", tar(md, { name: "pdf/keys", type: "2", target: "/etc/passwd" }), /^The layers have a link, "pdf\/keys"; links are not unpacked because they can lead anywhere\.$/], // prettier-ignore
    ["a symlink up", tar(md, { name: "pdf/keys", type: "2", target: "../../.ssh/id_rsa" }), '"pdf/keys"; links are not unpacked'], // prettier-ignore
    ["a hard link", tar(md, { name: "pdf/keys", type: "1", target: "etc/shadow" }), '"pdf/keys"; links are not unpacked'], // prettier-ignore
    ["a device", tar(md, { name: "pdf/null", type: "3" }), 'The archive has an entry of type "3"; only files and directories are unpacked.'], // prettier-ignore
    ["a path up", tar(md, { name: "pdf/../../x", content: "x" }), 'The path "pdf/../../x" has a segment ...'],
    ["a device of Windows", tar(md, { name: "pdf/con", content: "x" }), 'The path "pdf/con" has the segment "con", which is a device on Windows.'], // prettier-ignore
    ["two names of one file", tar(md, { name: "pdf/A", content: "x" }, { name: "pdf/a", content: "x" }), "names the same file as"], // prettier-ignore
    ["zeros without end", piece(gzipOfZeros(200 * 1024 * 1024), layerType), /^The archive unpacks to more than \d+ bytes\.$/], // prettier-ignore
    ["no archive", piece(Buffer.from("x".repeat(2_000)), layerType), "The archive is damaged, or no tar archive"],
    ["zstd", piece(Buffer.from("28b52ffd00", "hex"), "application/vnd.oci.image.layer.v1.tar+zstd"), "The layer 1 of 1 is compressed with zstd, which is not read; push it with gzip."], // prettier-ignore
    ["a title that is a path up", piece(Buffer.from(skillMd("pdf")), "text/plain", { annotations: { "org.opencontainers.image.title": "../SKILL.md" } }), "holds no SKILL.md."], // prettier-ignore
  ])("a layer with %s", async (_what, made, sentence) => {
    const { install } = await serve(manifestOf([made]));
    await expect(install()).rejects.toThrow(sentence);
  });

  test("the fault of one skill does not hide another; links outside of skills are nobody's", async () => {
    const { install, list, reader } = await serve(manifestOf([tar({ name: "bin", type: "2", target: "usr/bin" }, md, { name: "sheet/SKILL.md", content: skillMd("sheet") }, { name: "sheet/keys", type: "2", target: "/etc/passwd" })])); // prettier-ignore
    const [pdf, sheet] = await list();
    expect((await reader.skillFiles(pdf as RemoteSkill, signal)).map(({ path }) => path)).toEqual(["SKILL.md"]);
    expect(sheet?.name).toBe("sheet");
    await expect(install()).rejects.toThrow('"sheet/keys"; links are not unpacked');
  });

  test("one declared skill, and two in its layer", async () => {
    const layers = [await layerOf([...skillFiles("pdf", "pdf"), ...skillFiles("sheet", "sheet")])];
    const annotations = { "dev.toolhive.skills.name": "pdf", "dev.toolhive.skills.description": "Does pdf." };
    const { install } = await serve(manifestOf(layers, { annotations }));
    await expect(install()).rejects.toThrow("The artifact declares one skill, and holds 2.");
  });

  test("more whiteouts than a person writes", async () => {
    const empty = (_: unknown, index: number) => ({ path: `.wh.${index}`, bytes: new Uint8Array(), executable: false });
    const layers = [await layerOf(Array.from({ length: 1_001 }, empty))];
    const { install } = await serve(manifestOf(layers));
    await expect(install()).rejects.toThrow("The layers have more than 1000 whiteouts.");
  });

  test("a bad entry of a collection hides no other, and is said", async () => {
    const good = await agentSkills("pdf");
    const parts = [[good, {}], [await plain(skillFiles("sheet")), { digest: `sha256:${"2".repeat(64)}` }], [indexOf([[good, {}]]), { mediaType: "application/vnd.oci.image.index.v1+json" }]] as const; // prettier-ignore
    const { reader, source } = await serve(indexOf(parts));
    const { skills, problems } = await reader.list(source, signal);
    expect(skills.map(({ name }) => name)).toEqual(["pdf"]);
    expect(problems).toEqual([
      expect.stringMatching(/has no manifest sha256:2+, which its index lists\.$/),
      expect.stringMatching(/is an index in an index, which is not read\.$/),
    ]);
  });
});

test("tags without end are read as far as the limit goes, and of no other host", async () => {
  const { registry, reader } = await serve(await plain(skillFiles("pdf")));
  const source = parseSource(`oci://${registry.host}/skills`);
  const tags = (link: string): Answer => answers.bytes('{"tags":["main"]}', { link: `<${link}>; rel="next"` });
  registry.asked.splice(0);
  answerAt(registry, /tags\/list/, tags("/v2/skills/tags/list?last=main"));
  await expect(reader.list(source, signal)).rejects.toThrow("has neither the tag latest nor one that is a version");
  expect(registry.asked.filter((line) => line.includes("tags/list"))).toHaveLength(10);
  registry.asked.splice(0);
  answerAt(registry, /tags\/list/, tags("http://example.com/v2/skills/tags/list"));
  await expect(reader.list(source, signal)).rejects.toThrow("has neither the tag latest nor one that is a version");
  expect(registry.asked.filter((line) => line.includes("tags/list"))).toHaveLength(1);
});

test("a tag that changes between the calls gives the files of one artifact", async () => {
  const { registry, reader, list } = await serve(await toolHive("pdf"));
  const [skill] = await list();
  await pushArtifact(`http://${registry.host}/v2/skills`, "1", await toolHive("pdf", "2.0.0", "Changed."));
  const files = await reader.skillFiles(skill as RemoteSkill, signal);
  expect(Buffer.from(files[0]?.bytes ?? []).toString()).toBe(skillMd("pdf"));
});

describe("what refers to an artifact", async () => {
  const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";
  const bundle = piece(Buffer.from('{"bundle":1}'), bundleType);
  const artifact = await plain(skillFiles("pdf"));

  async function withReferrer(layer: Piece, subject: object, more: object = {}) {
    const opened = await serve(artifact);
    const annotations = { "dev.acp-skills.bundle": layer.descriptor.digest };
    const referrer = manifestOf([layer], { artifactType: bundleType, subject, annotations, ...more });
    await pushArtifact(`http://${opened.registry.host}/v2/skills`, "signature", referrer);
    const files = async (): Promise<Readonly<Record<string, string>>> => {
      const [skill] = await opened.list();
      const found = await opened.reader.skillFiles(skill as RemoteSkill, signal);
      return Object.fromEntries(found.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));
    };
    return { ...opened, files, referrer };
  }

  test("is handed on as the signature, and left alone if it is over another digest, as those of others are", async () => {
    const { files } = await withReferrer(bundle, artifact.top.descriptor);
    expect((await files())["skill.sigstore.json"]).toBe('{"bundle":1}');
    const { files: others } = await withReferrer(bundle, artifact.top.descriptor, { annotations: {} });
    expect(await others()).not.toHaveProperty("skill.sigstore.json");
  });

  test("is not taken where the skill has one in its files", async () => {
    const own = await plain([...skillFiles("pdf"), { path: "skill.sigstore.json", bytes: Buffer.from("own"), executable: false }]); // prettier-ignore
    const { registry, reader, list } = await serve(own);
    const [skill] = await list();
    registry.asked.splice(0);
    const files = await reader.skillFiles(skill as RemoteSkill, signal);
    expect(files.map(({ path }) => path)).toContain("skill.sigstore.json");
    expect(registry.asked.filter((line) => line.includes("referrers"))).toEqual([]);
  });

  test("is refused if it is about something else, or too large", async () => {
    const other = await withReferrer(bundle, artifact.top.descriptor);
    const { digest } = other.referrer.top.descriptor;
    const lie = piece({ schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", artifactType: bundleType, config: bundle.descriptor, layers: [bundle.descriptor], subject: { ...artifact.top.descriptor, digest: `sha256:${"3".repeat(64)}` } }, ""); // prettier-ignore
    other.registry.manifests.set(`skills/${lie.descriptor.digest}`, { bytes: Buffer.from(lie.bytes), type: "" });
    const entry = {
      ...lie.descriptor,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      artifactType: bundleType,
      annotations: { "dev.acp-skills.bundle": "x" },
    };
    answerAt(other.registry, /referrers/, answers.json({ schemaVersion: 2, manifests: [entry] }));
    await expect(other.files()).rejects.toThrow(/^The signature sha256:\S+ of \S+\/skills is not one of sha256:/);
    expect(digest).toMatch(/^sha256:/);
    const large = await withReferrer(piece(Buffer.alloc(600 * 1024), bundleType), artifact.top.descriptor);
    await expect(large.files()).rejects.toThrow("The signature of 127.0.0.1");
    await expect(large.files()).rejects.toThrow("has 614400 bytes; the limit is 524288.");
  });

  test("cannot be hidden by a registry that does not answer: that is no skill without a signature", async () => {
    const { registry, files } = await withReferrer(bundle, artifact.top.descriptor);
    answerAt(registry, /referrers/, answers.status(503));
    await expect(files()).rejects.toThrow("answered with status 503 for its signatures.");
    answerAt(registry, /referrers/, answers.json({ schemaVersion: 2, manifests: Array.from({ length: 10_000 }, () => bundle.descriptor) })); // prettier-ignore
    await expect(files()).rejects.toThrow("The list of its signatures lists 10000 manifests; the limit is 256.");
  });
});

test("whatever a manifest says, it is read or refused with SOURCE_INVALID", () => {
  const leaf = fc.oneof(
    fc.constantFrom(2, "sha256:0", sha256("x"), layerType, -1, 1e9, null),
    fc.string({ maxLength: 8 }),
  );
  const object = fc.dictionary(fc.constantFrom("mediaType", "digest", "size", "annotations", "urls", "platform", "__proto__"), leaf); // prettier-ignore
  const list = fc.array(fc.oneof(object, leaf), { maxLength: 4 });
  const document = fc.dictionary(fc.constantFrom("schemaVersion", "mediaType", "config", "layers", "manifests", "subject", "artifactType", "annotations"), fc.oneof(leaf, object, list)); // prettier-ignore
  fc.assert(
    fc.property(document, fc.boolean(), (json, isSecond) => {
      try {
        parseOciManifest(Buffer.from(JSON.stringify(isSecond ? { ...json, schemaVersion: 2 } : json)), "The manifest");
      } catch (error) {
        expect(error).toBeInstanceOf(SkillsError);
        expect(isSkillsError(error, "SOURCE_INVALID")).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});
