import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { diskSkillBytes, diskSkillFiles, memorySkillSource } from "../../src/skills/files.ts";
import { createSkillHasher, locateSkillFile, walkSkill } from "../../src/skills/hash.ts";
import { openSignatures, shippedRootDate, signatureWords } from "../../src/skills/signature.ts";
import { signatureFile } from "../../src/skills/skill.ts";
import { runInSlices } from "../../src/base/promises.ts";
import { openAuthorities } from "./signature/authorities.ts";
import * as signed from "./signature/signed-skills.ts";

let authorities: Awaited<ReturnType<typeof openAuthorities>>;
let place: string;
let trustedRoot: string;

beforeAll(async () => {
  authorities = await openAuthorities();
  place = mkdtempSync(path.join(tmpdir(), "acp-skills-signature-"));
  trustedRoot = path.join(place, "trusted-root.json");
  writeFileSync(trustedRoot, authorities.rootText);
});
afterAll(() => rmSync(place, { recursive: true }));

/** The verdict about a skill with this bundle. */
async function verdict(bundle: string | undefined, { text = signed.skillText(), root = trustedRoot } = {}) {
  const files = signed.filesOf(bundle, text);
  const signatures = openSignatures(root);
  const ofFiles = await signatures.ofFiles(files, await signed.digestOf(files));
  const source = memorySkillSource(signed.directory, files);
  expect(await signatures.of(source, signed, await signed.digestOf(files))).toEqual(ofFiles);
  return signatureWords(ofFiles);
}

test("a skill without a bundle is not signed", async () => {
  expect(await verdict(undefined)).toBe("not signed");
});

test.each(["ed25519", "ec"] as const)("a key pair signs (%s), and its fingerprint is the signer", async (type) => {
  const pair = signed.keyPair(type);
  expect(await verdict(await signed.keySigned(pair))).toBe(`signed with key ${pair.key}`);
});

test("an identity signs without a key", async () => {
  const bundle = await signed.keylessSigned(authorities);
  expect(await verdict(bundle)).toBe(`signed by ${signed.identity} (${signed.issuer})`);
});

// About one timestamp authority of the mock in a hundred has a certificate that its own packages refuse.
test("an identity signs with a timestamp", { retry: 3 }, async () => {
  const stamping = await openAuthorities();
  const root = path.join(place, "stamping-root.json");
  writeFileSync(root, stamping.rootText);
  const bundle = await signed.keylessSigned(stamping, { tsa: true });
  expect(bundle).toContain("signedTimestamp");
  expect(await verdict(bundle, { root })).toBe(`signed by ${signed.identity} (${signed.issuer})`);
});

test("another file, or the bundle of another skill, is over other files", async () => {
  const other = signed.skillText("columns");
  for (const bundle of [await signed.keySigned(), await signed.keylessSigned(authorities)])
    expect(await verdict(bundle, { text: other })).toMatch(
      /^signature INVALID: it is over other files \([0-9a-f]{12}\), not over these$/,
    );
});

test("the bundle is not among the files that a digest covers, that are served or that are walked", async () => {
  const bundle = await signed.keySigned();
  const [without, withBundle] = [signed.filesOf(), signed.filesOf(bundle)];
  expect(await signed.digestOf(withBundle)).toBe(await signed.digestOf(without));
  const source = memorySkillSource(signed.directory, [
    ...withBundle,
    { path: `references/${signatureFile}`, bytes: Buffer.from("{}") },
  ]);
  const walk = await runInSlices(walkSkill(source.files, signed.directory));
  expect(walk.files.map((file) => file.path)).toEqual(["SKILL.md", `references/${signatureFile}`]);
  expect(walk.hasHidden).toBe(false);
  expect(locateSkillFile(source, signed, signatureFile)).toBeUndefined();
  expect(locateSkillFile(source, signed, `references/${signatureFile}`)).toBeDefined();
});

test("a link to the bundle is neither served nor hashed, and a bundle that is a link is invalid", async () => {
  const directory = path.join(place, "rows");
  mkdirSync(directory);
  writeFileSync(path.join(directory, "SKILL.md"), signed.skillText());
  writeFileSync(path.join(directory, signatureFile), await signed.keySigned());
  symlinkSync(signatureFile, path.join(directory, "other.json"));
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const hash = async () => await createSkillHasher().hash(source, directory, new AbortController().signal);
  const { files, digest } = await hash();
  expect(files.map((file) => file.path)).toEqual(["SKILL.md"]);
  expect(locateSkillFile(source, { directory }, "other.json")).toBeUndefined();
  const signatures = openSignatures();
  expect((await signatures.of(source, { directory }, digest)).state).toBe("signed");
  rmSync(path.join(directory, signatureFile));
  writeFileSync(path.join(place, "bundle.json"), await signed.keySigned());
  symlinkSync(path.join(place, "bundle.json"), path.join(directory, signatureFile));
  expect(signatureWords(await signatures.of(source, { directory }, (await hash()).digest))).toBe(
    "signature INVALID: skill.sigstore.json is a link; it must be a file",
  );
});

test("each bad bundle has its sentence", async () => {
  const bundle = await signed.keySigned();
  const json = JSON.parse(bundle) as { dsseEnvelope: { signatures: object[]; payloadType: string }; mediaType: string };
  const changed = (change: (copy: typeof json) => void) => {
    const copy = structuredClone(json);
    change(copy);
    return JSON.stringify(copy);
  };
  const cases: readonly [bundle: string, why: string][] = [
    ["", "its bundle is not JSON"],
    ["[]", "its bundle is not a JSON object"],
    ["{}", "its bundle is of another version (none); application/vnd.dev.sigstore.bundle.v0.3+json is read"],
    [
      changed((copy) => (copy.mediaType = "application/vnd.dev.sigstore.bundle+json;version=0.1")),
      'its bundle is of another version ("application/vnd.dev.sigstore.bundle+json;version=0.1"); application/vnd.dev.sigstore.bundle.v0.3+json is read',
    ],
    [
      changed(({ dsseEnvelope: { signatures } }) => signatures.push(signatures[0]!)),
      "it has 2 signatures; there must be exactly one",
    ],
    [changed((copy) => (copy.dsseEnvelope.payloadType = "text/plain")), "its statement is of the type text/plain"],
    [
      changed((copy) => Object.assign(copy, { more: 1 })),
      "its bundle has fields that version 0.3 does not have, or values in another form",
    ],
    [`${"[".repeat(100)}${"]".repeat(100)}`, "its bundle is not JSON"],
    [`{"a": "${"x".repeat(5_000_000)}"}`, "skill.sigstore.json has more than 512 KiB, the limit of a bundle"],
    [
      (await signed.keySigned()).replace(/"hint": "[^"]+"/, `"hint": "${signed.keyPair().key}"`),
      "its statement names another key",
    ],
  ];
  for (const [text, why] of cases) expect(await verdict(text)).toBe(`signature INVALID: ${why}`);
});

test("an authority that the trusted root does not name proves nothing: another one, one that is revoked, the one of this package", async () => {
  const bundle = await signed.keylessSigned(authorities);
  const others = await openAuthorities();
  const root = path.join(place, "other-root.json");
  const refused = /^signature INVALID: its (certificate is of no authority|entry is of no transparency log) that/;
  writeFileSync(root, others.rootText);
  expect(await verdict(bundle, { root })).toMatch(refused);
  const ended = { start: "2020-01-01T00:00:00Z", end: "2021-01-01T00:00:00Z" };
  const revoked = structuredClone(authorities.root);
  Object.assign(revoked.certificateAuthorities[0]!, { validFor: ended });
  writeFileSync(root, JSON.stringify(revoked));
  expect(await verdict(bundle, { root })).toBe(
    "signature INVALID: its certificate is of no authority that the trusted root names for that time",
  );
  const files = signed.filesOf(bundle);
  const byShipped = await openSignatures().ofFiles(files, await signed.digestOf(files));
  expect(signatureWords(byShipped)).toMatch(refused);
});

test("a certificate that had expired when it was used proves nothing", async () => {
  const hourAgo = await openAuthorities({ clock: new Date(Date.now() - 3_600_000) });
  const now = await openAuthorities();
  // The log and the authority are not of one hour.
  const mixed = {
    ...hourAgo,
    answer: async (url: string, body: string) => await (url.includes("signingCert") ? hourAgo : now).answer(url, body),
  };
  const root = path.join(place, "mixed-root.json");
  writeFileSync(root, JSON.stringify({ ...hourAgo.root, tlogs: now.root.tlogs }));
  expect(await verdict(await signed.keylessSigned(mixed), { root })).toBe(
    "signature INVALID: its certificate is of no authority that the trusted root names for that time",
  );
});

test("a trusted root that cannot be used is named", async () => {
  const root = path.join(place, "no-root.json");
  writeFileSync(root, "{}");
  await expect(openSignatures(root).check()).rejects.toThrow(/no-root\.json cannot be used/);
  expect(await verdict(await signed.keySigned(), { root })).toMatch(
    /^signature INVALID: the trusted root .* cannot be used/,
  );
  await expect(openSignatures(path.join(place, "missing")).check()).rejects.toThrow(/cannot be used/);
});

test("the trusted root of this package is Sigstore's, with its age", async () => {
  expect(Number.isNaN(Date.parse(shippedRootDate))).toBe(false);
  await openSignatures().check();
});

test("names of signers cannot continue our sentence", () => {
  const signer = { identity: 'evil"\u202e\n signed by good', issuer: "https://issuer.example" };
  expect(signatureWords({ state: "signed", signer })).toBe(
    String.raw`signed by "evil\" signed by good" (https://issuer.example)`,
  );
});

test("a signature over another digest, as haiku.skills publishes them, is named and proves nothing", async () => {
  const files = [...signed.filesOf(), { path: "SKILL.sigstore", bytes: Buffer.from("{}") }];
  const found = await openSignatures().ofFiles(files, await signed.digestOf(files));
  const of = await openSignatures().of(
    memorySkillSource(signed.directory, files),
    signed,
    await signed.digestOf(files),
  );
  expect(of).toEqual(found);
  expect(signatureWords(found)).toBe("not signed (its SKILL.sigstore is over another digest than approvals are for)");
});
