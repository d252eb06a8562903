import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { openSourceReader } from "../../../../../src/sources/reader.ts";
import type { RemoteIndex, SourceLister } from "../../../../../src/sources/reader.ts";
import { type Source, parseSource, sourceKindOf } from "../../../../../src/sources/source.ts";
import { manualClock } from "../../../../manual-clock.ts";
import { describeSourceReader } from "../../../../contract/source-reader.ts";
import { answers, gzipOfZeros, openHostileServer } from "../../../hostile-server.ts";
import { tarOf } from "../../../archive/tar-blocks.ts";
import { alphaAndBeta, integrityOf, openFakeRegistry, packageOf, skillIn } from "./fake-registry.ts";

const { signal } = new AbortController();

function readerOf(...typed: readonly Source[]): SourceLister {
  const reader = openSourceReader({ allowPrivate: [], typed: typed.map(({ url }) => url), ownAddresses: () => [] });
  onTestFinished(() => reader.close());
  return reader;
}

async function read(text: string): Promise<RemoteIndex> {
  const source = parseSource(text);
  const index = await readerOf(source).read(source, undefined, signal);
  if (index === undefined) throw new Error("not asked whether it changed");
  return index;
}

describeSourceReader("openSourceReader, of a package of npm", async () => {
  const registry = await openFakeRegistry();
  registry.publish("rows", "1.0.0", packageOf({ name: "rows", version: "1.0.0" }, alphaAndBeta));
  const source = parseSource("npm:rows");
  return {
    reader: openSourceReader({ allowPrivate: [], typed: [source.url], ownAddresses: () => [] }),
    source,
    unreachable: parseSource("npm:absent"),
  };
});

test("takes the recommended version in a range, else the highest, a tag, and a deprecated one only without another", async () => {
  const registry = await openFakeRegistry();
  for (const version of ["1.0.0", "1.1.0", "2.0.0-beta.1", "1.2.0", "1.9.0", "2.0.0"]) {
    const bytes = packageOf({ name: "@a/rows", version }, skillIn("skills/rows", "rows"));
    registry.publish("@a/rows", version, bytes, (manifest) => {
      if (version === "1.9.0" || version === "2.0.0") manifest["deprecated"] = "Has a\u001b[31m fault";
    });
  }
  registry.tag("@a/rows", "latest", "1.1.0");
  registry.tag("@a/rows", "next", "2.0.0-beta.1");
  const versionOf = async (range: string): Promise<string | undefined> => {
    const { skills } = await read(`npm:@a/rows${range}`);
    return skills[0]?.version;
  };
  expect(await versionOf("")).toBe("1.1.0");
  expect(await versionOf("@^1")).toBe("1.1.0");
  expect(await versionOf("@>=1.2 <3")).toBe("1.2.0");
  expect(await versionOf("@next")).toBe("2.0.0-beta.1");
  expect(await versionOf("@1.0.0")).toBe("1.0.0");
  const deprecated = await read("npm:@a/rows@2");
  expect(deprecated.problems).toEqual(["@a/rows@2.0.0 is deprecated by its publisher: Has a[31m fault"]);
  await expect(read("npm:@a/rows@7")).rejects.toThrow(
    "No version of @a/rows is 7; its registry has the tags latest, next.",
  );
  await expect(read("npm:@a/rows@alpha")).rejects.toThrow("No version of @a/rows is alpha");
});

test("says when a version was published, by the registry: its own time, else that of the last change of the package", async () => {
  const registry = await openFakeRegistry();
  registry.publish("rows", "1.0.0", packageOf({ name: "rows", version: "1.0.0" }, alphaAndBeta));
  const times = async (more: object): Promise<readonly unknown[]> => {
    registry.say("rows", more);
    return (await read("npm:rows")).skills.map(({ publishedAt }) => publishedAt);
  };
  const [own, last] = ["2026-11-20T10:00:00.000Z", "2026-11-27T10:00:00.000Z"];
  expect(await times({ modified: last })).toEqual([Date.parse(last), Date.parse(last)]);
  expect(await times({ time: { "1.0.0": own, modified: last } })).toEqual([Date.parse(own), Date.parse(own)]);
  expect(await times({ time: { modified: last } })).toEqual([undefined, undefined]);
  expect(await times({ time: undefined, modified: "soon" })).toEqual([undefined, undefined]);
});

test("finds skills where the skills package finds them, else where a repository has them", async () => {
  const registry = await openFakeRegistry();
  const publish = (name: string, files: Record<string, string>): void =>
    registry.publish(name, "1.0.0", packageOf({ name, version: "1.0.0" }, files));
  publish("root", { ...skillIn(".", "root"), "SKILL.md": "---\nname: root\ndescription: Is all.\n---\n", ...skillIn("skills/a", "a") }); // prettier-ignore
  publish("both", { ...skillIn("skills/a", "a"), ...skillIn("dist/skills/b", "b"), ...skillIn("test/skills/c", "c") });
  publish("elsewhere", { ...skillIn("tools/deep/d", "d"), ...skillIn("node_modules/x/skills/e", "e") });
  publish("none", { "README.md": "nothing" });
  const namesOf = async (text: string): Promise<readonly string[]> => (await read(text)).skills.map(({ name }) => name);
  expect(await namesOf("npm:both")).toEqual(["a", "b"]);
  expect(await namesOf("npm:elsewhere")).toEqual(["d"]);
  expect((await read("npm:none")).problems).toEqual(["There is no SKILL.md in none@1.0.0."]);
});

test("says unchanged to the ETag of what it knows, and reads a locked version again although a newer one is there", async () => {
  const registry = await openFakeRegistry();
  registry.publish("rows", "1.0.0", packageOf({ name: "rows", version: "1.0.0" }, alphaAndBeta));
  const first = await read("npm:rows@^1");
  const { etags } = first;
  expect(await readerOf(first.source).read(first.source, { etags }, signal)).toBeUndefined();
  registry.publish("rows", "1.1.0", packageOf({ name: "rows", version: "1.1.0" }, skillIn("skills/alpha", "alpha")));
  const [alpha, beta] = first.skills;
  if (alpha?.content.type !== "pinned" || beta === undefined) throw new Error("not as expected");
  const files = await readerOf(first.source).skillFiles(beta, signal);
  expect(files.map(({ path }) => path).sort()).toEqual(["SKILL.md", "scripts/run.sh"]);
  const locked = sourceKindOf("npm:")?.at(first.source, alpha.content.pin);
  if (locked === undefined) throw new Error("There is no kind npm.");
  const again = await readerOf(locked).read(locked, undefined, signal);
  expect(again?.skills.map(({ content }) => "pin" in content && content.pin)).toEqual(
    first.skills.map(({ content }) => "pin" in content && content.pin),
  );
});

test("refuses a locked version that its registry replaced by other bytes", async () => {
  const registry = await openFakeRegistry();
  const publish = (file: string): void =>
    registry.publish("rows", "1.0.0", packageOf({ name: "rows", version: "1.0.0" }, { ...alphaAndBeta, file }));
  publish("first");
  const { source, skills } = await read("npm:rows");
  const [alpha] = skills;
  if (alpha?.content.type !== "pinned") throw new Error("not as expected");
  publish("second");
  const other = /^The registry has other bytes for rows@1\.0\.0 than the lock: sha512-\S+ instead of sha512-\S+\.$/;
  await expect(readerOf(source).skillFiles(alpha, signal)).rejects.toThrow(other);
  const locked = sourceKindOf("npm:")?.at(source, alpha.content.pin) ?? source;
  await expect(readerOf(source).read(locked, undefined, signal)).rejects.toThrow(other);
});

test("the token goes to the registry, and neither to another host of tarballs nor after a redirect", async () => {
  const other = await openHostileServer();
  const registry = await openFakeRegistry("//HOST/:_authToken=sesame\n");
  const bytes = packageOf({ name: "rows", version: "1.0.0" }, alphaAndBeta);
  registry.publish("here", "1.0.0", packageOf({ name: "here", version: "1.0.0" }, alphaAndBeta));
  const elsewhere = other.on("/rows.tgz", answers.bytes(bytes));
  registry.publish("rows", "1.0.0", bytes, (manifest) => (manifest["dist"] = { tarball: elsewhere, integrity: integrityOf(bytes) })); // prettier-ignore
  registry.publish("moved", "1.0.0", packageOf({ name: "moved", version: "1.0.0" }, alphaAndBeta));
  registry.on("/moved/-/moved-1.0.0.tgz", answers.redirect(other.on("/moved.tgz", answers.bytes(packageOf({ name: "moved", version: "1.0.0" }, alphaAndBeta))))); // prettier-ignore
  const typed = ["npm:here", "npm:rows", "npm:moved"].map((text) => parseSource(text));
  const reader = openSourceReader({
    allowPrivate: [`127.0.0.1:${other.port}`],
    typed: typed.map(({ url }) => url),
    ownAddresses: () => [],
  });
  onTestFinished(() => reader.close());
  for (const source of typed) expect((await reader.read(source, undefined, signal))?.skills).toHaveLength(2);
  const sent = (server: typeof other): (readonly [string, string | undefined])[] =>
    server.asked.map(({ url, headers }) => [url, headers.authorization]);
  expect(sent(registry)).toEqual(
    ["/here", "/here/-/here-1.0.0.tgz", "/rows", "/moved", "/moved/-/moved-1.0.0.tgz"].map((url) => [
      url,
      "Bearer sesame",
    ]),
  );
  expect(sent(other)).toEqual([["/rows.tgz", undefined], ["/moved.tgz", undefined]]); // prettier-ignore
});

test("a package that is absent, or not for this person, says which variable its token needs", async () => {
  const registry = await openFakeRegistry("//HOST/:_authToken=${ACP_SKILLS_NO_SUCH_TOKEN}\n");
  const { host } = new URL(registry.origin);
  const unset = "its token in your .npmrc needs ${ACP_SKILLS_NO_SUCH_TOKEN}, which is not set";
  await expect(read("npm:absent")).rejects.toThrow(`${host} does not have absent, or not for you; ${unset}.`);
  registry.on("/closed", answers.status(401));
  await expect(read("npm:closed")).rejects.toThrow(`${host} answered 401 for closed; ${unset}.`);
});

const one = { name: "rows", version: "1.0.0" };
const files = skillIn("skills/rows", "rows");

test.each<[string, () => Buffer, string]>([
  ["a tarball with two package.json", () => gzipSync(tarOf({ name: "package/package.json", content: JSON.stringify(one) }, { name: "package/package.json", content: JSON.stringify(one) })), "The tarball of rows@1.0.0 has two package.json: which one counts depends on who reads it."], // prettier-ignore
  ["two package.json in two directories", () => gzipSync(tarOf({ name: "package/package.json", content: JSON.stringify(one) }, { name: "other/package.json", content: JSON.stringify(one) })), "has two package.json"], // prettier-ignore
  ["two that differ by case", () => gzipSync(tarOf({ name: "package/package.json", content: JSON.stringify(one) }, { name: "package/PACKAGE.json", content: "{}" })), "has two package.json"], // prettier-ignore
  ["another name inside", () => packageOf({ ...one, name: "cols" }, files), 'The package.json in the tarball of rows@1.0.0 is of "cols" "1.0.0".'], // prettier-ignore
  ["another version inside", () => packageOf({ ...one, version: "1.0.1" }, files), 'is of "rows" "1.0.1".'],
  ["no package.json", () => gzipSync(tarOf({ name: "package/index.js" })), "has no package.json that can be read"],
  ["a package.json that is none", () => gzipSync(tarOf({ name: "package/package.json", content: "[]" })), "has no package.json that can be read"], // prettier-ignore
  ["a file twice", () => gzipSync(tarOf({ name: "package/package.json", content: JSON.stringify(one) }, { name: "package/a", content: "1" }, { name: "package/a", content: "2" })), 'The tarball of rows@1.0.0 has "package/a" twice.'], // prettier-ignore
  ["a second directory at its top", () => gzipSync(tarOf({ name: "package/package.json", content: JSON.stringify(one) }, { name: "other/x" })), "has more than one directory at its top"], // prettier-ignore
  ["a bomb", () => gzipOfZeros(260 * 1024 * 1024), "The archive unpacks to more than"],
  ["a device", () => gzipSync(tarOf({ name: "package/null", type: "3" })), "only files and directories are unpacked"],
])("refuses %s", async (_what, tarball, why) => {
  const registry = await openFakeRegistry();
  registry.publish("rows", "1.0.0", tarball());
  await expect(read("npm:rows")).rejects.toThrow(why);
});

test("links out of a skill are left out and reported", async () => {
  const registry = await openFakeRegistry();
  const entries = Object.entries({ "package.json": JSON.stringify(one), ...files });
  const link = { name: "package/skills/rows/passwd", type: "2", target: "../../../../etc/passwd" };
  registry.publish("rows", "1.0.0", gzipSync(tarOf(...entries.map(([name, content]) => ({ name: `package/${name}`, content })), link))); // prettier-ignore
  const { problems, skills, source } = await read("npm:rows");
  expect(problems).toEqual([
    '"skills/rows/passwd" is a symlink to something that is not a file of the same skill; left out.',
  ]);
  const [rows] = skills;
  if (rows === undefined) throw new Error("There is no skill rows.");
  const paths = (await readerOf(source).skillFiles(rows, signal)).map(({ path }) => path);
  expect(paths.sort()).toEqual(["SKILL.md", "scripts/run.sh"]);
});

const good = packageOf(one, files);
type Manifest = Record<string, unknown>;

test.each<[string, (manifest: Manifest) => void, string]>([
  ["a wrong integrity", (manifest) => (manifest["dist"] = { ...(manifest["dist"] as object), integrity: `sha512-${"A".repeat(86)}==` }), "The tarball of rows@1.0.0 is not what its registry says: its integrity is sha512-"], // prettier-ignore
  ["only a sha1", (manifest) => (manifest["dist"] = { ...(manifest["dist"] as object), integrity: `sha1-${"A".repeat(27)}=` }), "rows@1.0.0 has no sha512 integrity in its registry, so its bytes cannot be verified; its publisher has to publish it again."], // prettier-ignore
  ["only a shasum", (manifest) => (manifest["dist"] = { ...(manifest["dist"] as object), integrity: undefined, shasum: "0".repeat(40) }), "has no sha512 integrity"], // prettier-ignore
  ["no tarball", (manifest) => (manifest["dist"] = { integrity: integrityOf(good) }), "The registry does not say where rows@1.0.0 is."], // prettier-ignore
  ["a tarball over http", (manifest) => (manifest["dist"] = { integrity: integrityOf(good), tarball: "http://cdn.example/x.tgz" }), "is not asked over http"], // prettier-ignore
  ["a tarball on a file", (manifest) => (manifest["dist"] = { integrity: integrityOf(good), tarball: "file:///etc/passwd" }), "cannot be fetched; use https:"], // prettier-ignore
  ["a tarball on this machine", (manifest) => (manifest["dist"] = { integrity: integrityOf(good), tarball: "http://127.0.0.1:1/x" }), "127.0.0.1"], // prettier-ignore
  ["a manifest of another package", (manifest) => (manifest["name"] = "cols"), "What the registry says of rows@1.0.0 is of another package."], // prettier-ignore
])("refuses a registry that announces %s", async (_what, change, why) => {
  const registry = await openFakeRegistry();
  registry.publish("rows", "1.0.0", good, (manifest) => change(manifest));
  await expect(read("npm:rows")).rejects.toThrow(why);
});

test.each<[string, Parameters<Awaited<ReturnType<typeof openFakeRegistry>>["on"]>[1], string]>([
  ["with a page", answers.bytes("<html>"), "The registry did not answer with the versions of rows."],
  ["with an array", answers.json([]), "did not answer with the versions of rows"],
  ["for another package", answers.json({ name: "cols", versions: {}, "dist-tags": {} }), "did not answer with the versions of rows"], // prettier-ignore
  ["without versions", answers.json({ name: "rows", versions: {}, "dist-tags": { latest: "1.0.0" } }), "No version of rows is latest"], // prettier-ignore
  ["with a version of a prototype", answers.json({ name: "rows", versions: {}, "dist-tags": { latest: "constructor" } }), "No version of rows is latest"], // prettier-ignore
  ["endlessly", answers.endlessly(200), "sent more than 8388608 bytes, the limit for this answer"],
  ["with too many keys", answers.bytes(`[${"0,".repeat(200_001)}0]`), "more than 200000 keys and values"],
  ["with a fault", answers.status(500), "answered with status 500"],
  ["compressed", answers.bytes(gzipSync("{}"), { "content-encoding": "gzip" }), "sent a compressed answer"],
  ["with a redirect inside", answers.redirect("http://10.0.0.1/rows"), "redirects to"],
])("refuses a registry that answers %s", async (_what, answer, why) => {
  const registry = await openFakeRegistry();
  registry.on("/rows", answer);
  await expect(read("npm:rows")).rejects.toThrow(why);
});

test.each<[string, (registry: Awaited<ReturnType<typeof openFakeRegistry>>) => string, number]>([
  ["says nothing", (registry) => registry.on("/rows", answers.silent), 20_000],
  ["never ends", (registry) => registry.on("/rows", answers.dripping), 20_000],
  ["stops in the middle of a tarball", (registry) => { registry.publish("rows", "1.0.0", good); return registry.on("/rows/-/rows-1.0.0.tgz", answers.stalled); }, 120_000], // prettier-ignore
])("a registry that %s is given up when its time is over", async (_what, misbehave, time) => {
  const registry = await openFakeRegistry();
  const { pathname } = new URL(misbehave(registry));
  const clock = manualClock();
  const source = parseSource("npm:rows");
  const reader = openSourceReader({ allowPrivate: [], typed: [source.url], ownAddresses: () => [], clock });
  onTestFinished(() => reader.close());
  const failed = expect(reader.read(source, undefined, signal)).rejects.toThrow(
    `127.0.0.1:${registry.port} did not answer completely within ${time / 1_000} s; try again.`,
  );
  await registry.arrived(pathname);
  clock.pass(time);
  await failed;
});
