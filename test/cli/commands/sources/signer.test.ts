import { createPrivateKey } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { signWithKey } from "../../../../src/skills/signature/make-bundle.ts";
import { keyPair, filesOf, digestOf } from "../../../skills/signature/signed-skills.ts";
import { runCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();

async function cli(...args: string[]) {
  const run = await runCli(args, { cwd: project.directory });
  return { ...run, stderr: unfolded(run.stderr), stdout: run.stdout.replace(/ {2,}/g, "  ") };
}

/** The files of a skill, signed by a key. */
async function signed({ privateKey }: Pick<ReturnType<typeof keyPair>, "privateKey">, description = "Does pdf.") {
  const text = skillText("pdf", description);
  const digest = await digestOf(filesOf(undefined, text));
  const bundle = signWithKey(
    { name: "pdf", version: "0.0.0", digest },
    createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" })),
  );
  return { "SKILL.md": text, "skill.sigstore.json": bundle };
}

function lockText(): string {
  return readFileSync(project.at("skills-lock.json"), "utf8");
}

test("add says who signed a skill and pins them; list, show, verify and update say it as well", async () => {
  const { origin, publish } = await openPublisher();
  const pair = keyPair();
  const words = `signed with key ${pair.key}`;
  await publish({ pdf: await signed(pair), plain: { "SKILL.md": skillText("plain") } });
  const added = await cli("add", origin, "--all", "--yes");
  expect(added.code, added.stderr).toBe(0);
  expect(added.stdout).toContain(`signature  ${words}\n`);
  expect(added.stdout).toContain("signature  not signed\n");
  expect((JSON.parse(lockText()) as { skills: { pdf: object; plain: object } }).skills).toMatchObject({
    pdf: { signer: { key: pair.key } },
  });
  expect(lockText().match(/"signer"/g)).toHaveLength(1);
  expect((await cli("verify")).stdout).toBe(`ok  pdf: ${words}\nok  plain\n`);
  const listed = await cli("list");
  expect(listed.stdout).toMatch(/^NAME {2}VERSION {2}KIND {2}SIGNATURE/);
  expect(listed.stdout).toContain(words);
  expect(listed.stdout).toContain("not signed");
  const shown = await cli("show", "pdf");
  expect(shown.stdout).toContain(`signature  ${words}\n`);
  expect(shown.stdout).toMatch(/trusted root {2}of this package, as published on \d{4}-\d\d-\d\d\n/);
  expect(shown.stdout).not.toContain("skill.sigstore.json");
  await publish({ pdf: await signed(pair, "Does more."), plain: { "SKILL.md": skillText("plain") } });
  const updated = await cli("update", "--yes", "--allow-private", "127.0.0.1");
  expect(updated.code, updated.stderr).toBe(0);
  expect(updated.stdout).toContain(words);
});

test("another signer than the lock pins, or none, is refused with both names, until a person accepts it", async () => {
  const { origin, publish } = await openPublisher();
  const [mine, theirs] = [keyPair(), keyPair("ec")];
  await publish({ pdf: await signed(mine) });
  await cli("add", origin, "--yes");
  const before = lockText();
  const bySigner = await signed(theirs, "Is new.");
  const byNobody = { "SKILL.md": bySigner["SKILL.md"] };
  const broken = { ...byNobody, "skill.sigstore.json": (await signed(mine))["skill.sigstore.json"] };
  for (const [files, now] of [
    [bySigner, `signed with key ${theirs.key}`],
    [byNobody, "not signed"],
    [broken, "signature INVALID: it is over other files"],
  ] as const) {
    await publish({ pdf: files });
    for (const args of [["update"], ["add", origin]]) {
      const { code, stderr } = await cli(...args, "--yes", "--allow-private", "127.0.0.1");
      expect(stderr).toContain(`in the lock it is signed with key ${mine.key}, now ${now}`);
      expect(stderr).toContain("--allow-signer-change accepts that");
      expect(code).toBe(3);
    }
    expect(lockText()).toBe(before);
  }
  await publish({ pdf: bySigner });
  const accepted = await cli("update", "--yes", "--allow-signer-change", "--allow-private", "127.0.0.1");
  expect(accepted.code, accepted.stderr).toBe(0);
  expect(JSON.parse(lockText())).toMatchObject({ skills: { pdf: { signer: { key: theirs.key } } } });
  await publish({ pdf: { ...byNobody, "SKILL.md": skillText("pdf", "Is newer.") } });
  await cli("update", "--yes", "--allow-signer-change", "--allow-private", "127.0.0.1");
  expect(lockText()).not.toContain('"signer"');
});

test("a signature that proves nothing is not installed where nobody is asked", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ pdf: { ...(await signed(keyPair())), "more.md": "more" } });
  const { code, stderr } = await cli("add", origin, "--yes");
  expect(stderr).toMatch(
    /pdf cannot be installed: signature INVALID: it is over other files .*; --yes does not answer for that/,
  );
  expect(code).toBe(3);
});

test("a skill that only gets a signature is updated, and one that was installed before signatures is pinned", async () => {
  const { origin, publish } = await openPublisher();
  const pair = keyPair();
  const files = await signed(pair);
  await publish({ pdf: { "SKILL.md": files["SKILL.md"] } });
  await cli("add", origin, "--yes");
  await publish({ pdf: files });
  const updated = await cli("update", "--yes", "--allow-private", "127.0.0.1");
  expect(updated.stderr).toContain("updated pdf");
  expect(lockText()).toContain(pair.key);
  const lock = JSON.parse(lockText()) as { skills: { pdf: { signer?: object } } };
  delete lock.skills.pdf.signer;
  writeFileSync(project.at("skills-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
  expect((await cli("add", origin, "--yes")).stderr).toContain("noted pdf 0.0.0 in the lock");
  expect(lockText()).toContain(pair.key);
});

test("verify compares the signer with the lock, also where the bytes are as locked", async () => {
  const { origin, publish } = await openPublisher();
  const [mine, other] = [keyPair(), keyPair()];
  await publish({ pdf: await signed(mine) });
  await cli("add", origin, "--yes");
  writeFileSync(project.at("skills-lock.json"), lockText().replace(mine.key, other.key));
  const { code, stdout } = await cli("verify");
  expect(stdout).toBe(`signer  pdf: signed with key ${mine.key}; the lock has key ${other.key}\n`);
  expect(code).toBe(1);
  writeFileSync(project.at("skills-lock.json"), lockText().replace(other.key, "SHA256:x"));
  expect((await cli("verify")).stderr).toContain('"signer" must be {"key": …} or {"identity": …, "issuer": …}');
});

test("a policy's demand refuses to install and to run what others signed, or nobody", async () => {
  const { origin, publish } = await openPublisher();
  const [mine, theirs] = [keyPair(), keyPair()];
  project.write("acp-skills.policy.json", JSON.stringify({ signers: [{ source: "*", accept: [{ key: mine.key }] }] }));
  await publish({ pdf: await signed(theirs) });
  const refused = await cli("add", origin, "--yes");
  expect(refused.stderr).toContain(`denies the skill pdf, which is signed with key ${theirs.key}`);
  expect(refused.code).toBe(3);
  await publish({ pdf: await signed(mine) });
  expect((await cli("add", origin, "--yes")).code).toBe(0);
  project.write("skills/greet/SKILL.md", skillText("greet"));
  project.write("skills/greet/scripts/a.sh", "echo hi\n");
  const run = await cli("run", "greet", "--skills", "skills", "--no-default-roots", "--script", "scripts/a.sh");
  expect(run.stderr).toContain("denies the skill greet, which is not signed");
  expect(run.code).not.toBe(0);
});
