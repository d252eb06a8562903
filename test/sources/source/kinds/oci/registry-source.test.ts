import { afterAll, describe, expect, test } from "vitest";
import { openSourceReader } from "../../../../../src/sources/reader.ts";
import type { RemoteIndex, SkillFile, SourceLister } from "../../../../../src/sources/reader.ts";
import { parseSource } from "../../../../../src/sources/source.ts";
import { newestVersion } from "../../../../../src/sources/source/kinds/oci/registry-source.ts";
import { describeSourceReader } from "../../../../contract/source-reader.ts";
import { type Artifact, agentSkills, alibaba, indexOf, layerOf, manifestOf, plain, piece, pushArtifact, skillFiles, skillMd, toolHive } from "./artifacts.ts"; // prettier-ignore
import { hasRegistry, openRealRegistry, whyNoRegistry } from "./real-registry.ts";

const { signal } = new AbortController();

const both = await plain([...skillFiles("alpha", "skills/alpha"), ...skillFiles("beta", "skills/beta")]);

describe.skipIf(!hasRegistry)(`a real registry${whyNoRegistry}`, async () => {
  const registry = hasRegistry ? await openRealRegistry() : { host: "127.0.0.1:1", close: () => Promise.resolve() };
  afterAll(() => registry.close());
  const base = `http://${registry.host}/v2`;

  describeSourceReader("openSourceReader, of a registry", async () => {
    await pushArtifact(`${base}/contract`, "latest", both);
    return {
      reader: openSourceReader({ allowPrivate: [registry.host, "127.0.0.1:1"], typed: [] }),
      source: parseSource(`oci://${registry.host}/contract`),
      unreachable: parseSource("oci://127.0.0.1:1/contract"),
    };
  });

  async function read(
    artifact: Artifact,
    { repository, tag = "1.0.0" }: { readonly repository: string; readonly tag?: string },
    suffix = `:${tag}`,
  ): Promise<{ readonly index: RemoteIndex; readonly files: readonly (readonly SkillFile[])[] }> {
    await pushArtifact(`${base}/${repository}`, tag, artifact);
    return await using(async (reader) => {
      const index = await reader.list(parseSource(`oci://${registry.host}/${repository}${suffix}`), signal);
      const files: (readonly SkillFile[])[] = [];
      for (const skill of index.skills) files.push(await reader.skillFiles(skill, signal));
      return { index, files };
    });
  }

  async function using<Value>(work: (reader: SourceLister) => Promise<Value>): Promise<Value> {
    const reader = openSourceReader({ allowPrivate: [registry.host] });
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  }

  const expected = skillFiles("pdf").map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]);
  const textsOf = (files: readonly SkillFile[] = []): unknown =>
    files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]);

  test.each([
    ["ToolHive", toolHive("pdf"), { version: "1.0.0" }],
    ["the proposed specification for Agent Skills", agentSkills("pdf"), {}],
    ["Alibaba's registry", alibaba("pdf"), { version: "2.0.0" }],
    ["kagent and Chainguard, a layer with the skill at its root", plain(skillFiles("pdf")), {}],
    ["Flux, a layer with a tree of skills", plain(skillFiles("pdf", "skills/pdf"), "application/vnd.cncf.flux.content.v1.tar+gzip"), {}], // prettier-ignore
    ["an image of several layers", Promise.all([layerOf([{ path: "etc/os-release", bytes: Buffer.from("x"), executable: false }]), layerOf(skillFiles("pdf", "skills/pdf"))]).then((layers) => manifestOf(layers)), {}], // prettier-ignore
    ["an uncompressed layer", layerOf(skillFiles("pdf")).then(async ({ bytes }) => manifestOf([piece((await import("node:zlib")).gunzipSync(bytes), "application/vnd.oci.image.layer.v1.tar")])), {}], // prettier-ignore
  ])("is read as %s publishes it", async (form, made, more) => {
    const repository = form.toLowerCase().replace(/[^a-z]+/g, "-").replace(/-$/, ""); // prettier-ignore
    const { index, files } = await read(await made, { repository });
    expect(index).toMatchObject({ form: "scheme", problems: [] });
    expect(index.skills).toMatchObject([{ name: "pdf", description: "Does pdf.", ...more }]);
    expect(textsOf(files[0])).toEqual(expected);
    expect(files[0]?.map(({ executable }) => executable)).toEqual([false, true]);
  });

  test("reads layers that are one file each, by their titles", async () => {
    const file = (path: string, text: string, mediaType: string) =>
      piece(Buffer.from(text), mediaType, { annotations: { "org.opencontainers.image.title": path } });
    const artifact = manifestOf([
      file("SKILL.md", skillMd("pdf"), "text/markdown"),
      file("references/more.md", "More.", "text/markdown"),
    ]);
    const { files } = await read(artifact, { repository: "files" });
    expect(textsOf(files[0])).toEqual([["SKILL.md", skillMd("pdf")], ["references/more.md", "More."]]); // prettier-ignore
  });

  test("applies the whiteouts of later layers", async () => {
    const empty = (path: string) => ({ path, bytes: Buffer.alloc(0), executable: false });
    const layers = await Promise.all([
      layerOf([...skillFiles("pdf", "a"), ...skillFiles("old", "b"), ...skillFiles("gone", "c")]),
      layerOf([empty("a/scripts/.wh.run.sh"), empty(".wh.b"), empty("c/.wh..wh..opq")]),
      layerOf([{ path: "a/new.md", bytes: Buffer.from("New."), executable: false }]),
    ]);
    const { index, files } = await read(manifestOf(layers), { repository: "whiteouts" });
    expect(index.skills.map(({ name }) => name)).toEqual(["pdf"]);
    expect(textsOf(files[0])).toEqual([["SKILL.md", skillMd("pdf")], ["new.md", "New."]]); // prettier-ignore
  });

  test("lists each artifact of a collection", async () => {
    const parts = [
      [await agentSkills("pdf"), { annotations: { "io.agentskills.skill.name": "pdf" } }],
      [await toolHive("sheet").then(({ blobs, manifests: [top] }) => ({ blobs, manifests: [], top: top ?? piece({}, "") })), {}], // prettier-ignore
      [await plain(skillFiles("words")), {}],
    ] as const;
    const { index, files } = await read(indexOf(parts, { artifactType: "application/vnd.agentskills.collection.v1" }), { repository: "collection" }); // prettier-ignore
    expect(index.skills.map(({ name }) => name)).toEqual(["pdf", "sheet", "words"]);
    expect(files.map((each) => each.length)).toEqual([2, 2, 2]);
    const pins = index.skills.map(({ content }) => (content.type === "pinned" ? content.pin : ""));
    expect(new Set(pins).size).toBe(1);
  });

  test("without a tag, reads latest, else the highest version", async () => {
    await read(await toolHive("pdf", "1.9.0"), { repository: "versions", tag: "1.9.0" });
    await read(await toolHive("pdf", "2.0.0-rc.1"), { repository: "versions", tag: "2.0.0-rc.1" });
    const { index } = await read(await toolHive("pdf", "1.10.0"), { repository: "versions", tag: "v1.10.0" }, "");
    expect(index.skills).toMatchObject([{ version: "1.10.0" }]);
    const { index: latest } = await read(await toolHive("pdf", "0.1.0"), { repository: "versions", tag: "latest" }, "");
    expect(latest.skills).toMatchObject([{ version: "0.1.0" }]);
  });

  test("says that nothing changed until the tag names another digest", async () => {
    const repository = "changing";
    const { index } = await read(await toolHive("pdf"), { repository });
    const source = parseSource(`oci://${registry.host}/${repository}:1.0.0`);
    const { etags } = index;
    await using(async (reader) => {
      expect(await reader.read(source, { etags }, signal)).toBeUndefined();
      await pushArtifact(`${base}/${repository}`, "1.0.0", await toolHive("pdf", "1.0.1", "Changed."));
      expect((await reader.read(source, { etags }, signal))?.skills).toMatchObject([{ version: "1.0.1" }]);
      // What was listed before is still there.
      const [skill] = index.skills;
      expect(skill && textsOf(await reader.skillFiles(skill, signal))).toEqual(expected);
    });
  });

  test("says what is not there", () =>
    using(async (reader) => {
      const list = (text: string) => reader.list(parseSource(`oci://${registry.host}/${text}`), signal);
      await expect(list("nothing:1")).rejects.toThrow(`${registry.host}/nothing has nothing with the tag 1.`);
      await expect(list("nothing")).rejects.toThrow(
        "has neither the tag latest nor one that is a version; name a tag.",
      );
      await pushArtifact(`${base}/empty`, "1", await plain([{ path: "README.md", bytes: Buffer.from("x"), executable: false }])); // prettier-ignore
      await expect(list("empty:1")).rejects.toThrow("holds no SKILL.md.");
    }));
});

test.each([
  [["1.2.0", "1.10.0", "v1.9.0"], "1.10.0"],
  [["2.0.0-rc.1", "1.0.0"], "1.0.0"],
  [["1.0.0-a", "1.0.0-b"], "1.0.0-b"],
  [["main", "sha256-abc"], undefined],
  [[], undefined],
])("of the tags %j the newest version is %s", (tags, newest) => {
  expect(newestVersion(tags)).toBe(newest);
});
