import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAuthorities, serveAuthorities, tokenOf } from "../../../skills/signature/authorities.ts";
import { runCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
let authorities: Awaited<ReturnType<typeof openAuthorities>>;
let services: Awaited<ReturnType<typeof serveAuthorities>>;
beforeAll(async () => {
  authorities = await openAuthorities();
  services = await serveAuthorities(authorities);
});
afterAll(() => void services.server.close());

async function sign(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const run = await runCli(["sign", ...args], { cwd: project.directory, env });
  return { ...run, stderr: unfolded(run.stderr) };
}

function writeSkill(): void {
  project.write("pdf/SKILL.md", skillText("pdf"));
}

test("a new key signs a skill, and list says so", async () => {
  writeSkill();
  const made = await sign(["--generate-key", "key.pem"]);
  const [key = ""] = /SHA256:[A-Za-z0-9+/]{43}/.exec(made.stderr) ?? [];
  expect(statSync(project.at("key.pem")).mode & 0o777).toBe(0o600);
  const { code, stderr } = await sign(["pdf", "--key", "key.pem"]);
  expect(stderr).toMatch(
    /^acp-skills: pdf 0\.0\.0 \([0-9a-f]{12}\) signed with key SHA256:.*; wrote pdf\/skill\.sigstore\.json\n$/,
  );
  expect(stderr).toContain(key);
  expect(code).toBe(0);
});

test("a key is never replaced, and never signs without the passphrase that it has", async () => {
  writeSkill();
  const env = { SECRET: "correct horse" };
  expect((await sign(["--generate-key", "key.pem", "--passphrase", "env:SECRET"], env)).code).toBe(0);
  expect(readFileSync(project.at("key.pem"), "utf8")).toContain("ENCRYPTED");
  const cases: readonly [args: readonly string[], why: string][] = [
    [["--generate-key", "key.pem"], "key.pem exists; a key is never replaced"],
    [
      ["pdf", "--key", "key.pem"],
      "key.pem is encrypted: name the environment variable with its passphrase (--passphrase env:NAME)",
    ],
    [["pdf", "--key", "key.pem", "--passphrase", "env:WRONG"], "key.pem cannot be decrypted with this passphrase"],
    [
      ["pdf", "--key", "key.pem", "--passphrase", "env:NOPE"],
      "--passphrase env:NOPE: there is no such variable, or it is empty",
    ],
    [
      ["pdf", "--key", "key.pem", "--passphrase", "horse"],
      "--passphrase needs env:NAME; others can read a passphrase in a command line",
    ],
  ];
  for (const [args, why] of cases) {
    const { code, stderr } = await sign(args, { ...env, WRONG: "wrong" });
    expect([stderr.includes(why), code], stderr).toEqual([true, 2]);
    expect(stderr).not.toContain("horse battery");
  }
  const signed = await sign(["pdf", "--key", "key.pem", "--passphrase", "env:SECRET"], env);
  expect(signed.code, signed.stderr).toBe(0);
});

test("each key that cannot sign has its sentence", async () => {
  writeSkill();
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  project.write("rsa.pem", privateKey.export({ format: "pem", type: "pkcs8" }));
  project.write("text.pem", "hello");
  const cases: readonly [args: readonly string[], why: string][] = [
    [["pdf", "--key", "rsa.pem"], "rsa.pem is a key of another kind (rsa); Ed25519 and ECDSA with P-256 are used"],
    [["pdf", "--key", "text.pem"], "text.pem is no private key in PEM (PKCS#8)"],
    [["pdf", "--key", "absent.pem"], "absent.pem cannot be read"],
    [["pdf"], "there is nothing to sign with: --key FILE names a private key"],
    [[], "name the directory of the skill to sign"],
    [["absent", "--key", "text.pem"], "no such directory"],
  ];
  for (const [args, why] of cases) {
    const { code, stderr } = await sign(args);
    expect([stderr.includes(why), code], stderr).toEqual([true, 2]);
  }
});

test("an identity signs with the token that CI gives, directly or through GitHub's service", async () => {
  writeSkill();
  const identity = "https://github.com/acme/skills/.github/workflows/release.yml@refs/heads/main";
  const token = tokenOf(identity);
  const asked: (string | undefined)[] = [];
  const github = createServer((request, response) => {
    asked.push(request.url, request.headers.authorization);
    response.end(JSON.stringify({ value: token }));
  });
  await new Promise<void>((resolve) => github.listen(0, "127.0.0.1", resolve));
  const { port } = github.address() as AddressInfo;
  project.write("root.json", authorities.rootText);
  const { url } = services;
  const args = ["pdf", "--fulcio", url, "--rekor", url, "--trusted-root", "root.json"];
  const ofGitHub = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?job=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of-this-job",
  };
  for (const env of [{ SIGSTORE_ID_TOKEN: token }, ofGitHub]) {
    const { code, stderr } = await sign(args, env);
    expect(stderr).toContain(`signed by ${identity} (https://token.actions.example)`);
    expect(code).toBe(0);
  }
  expect(asked).toEqual(["/token?job=1&audience=sigstore", "Bearer of-this-job"]);
  github.close();
});

test("what the trusted root does not verify is not written, and a service that refuses is named", async () => {
  writeSkill();
  const { url } = services;
  const env = { SIGSTORE_ID_TOKEN: tokenOf("someone") };
  const other = await sign(["pdf", "--fulcio", url, "--rekor", url], env);
  expect(other.stderr).toMatch(/signature INVALID: .*; nothing was written: .*--trusted-root FILE/);
  expect(other.code).toBe(3);
  const refused = await sign(["pdf", "--fulcio", `${url}/nothing`, "--rekor", url], env);
  expect(refused.stderr).toContain("answered with status 404");
  const notToken = await sign(["pdf", "--fulcio", url, "--rekor", url], { SIGSTORE_ID_TOKEN: "abc" });
  expect(notToken.stderr).toContain("the identity token is no OpenID Connect token with a subject");
  expect(() => lstatSync(project.at("pdf/skill.sigstore.json"))).toThrow("ENOENT");
});

test("a link in the place of the signature is replaced, not followed", async () => {
  writeSkill();
  project.write("precious.txt", "precious");
  symlinkSync(project.at("precious.txt"), project.at("pdf/skill.sigstore.json"));
  await sign(["--generate-key", "key.pem"]);
  expect((await sign(["pdf", "--key", "key.pem"])).code).toBe(0);
  expect(readFileSync(project.at("precious.txt"), "utf8")).toBe("precious");
  expect(lstatSync(project.at("pdf/skill.sigstore.json")).isFile()).toBe(true);
});

// About one timestamp authority of the mock in a hundred has a certificate that its own packages refuse.
test("a timestamp authority vouches for the time with --tsa", { retry: 3 }, async () => {
  writeSkill();
  const stamping = await openAuthorities();
  const { url, server } = await serveAuthorities(stamping);
  project.write("root.json", stamping.rootText);
  const args = ["pdf", "--fulcio", url, "--rekor", url, "--tsa", url, "--trusted-root", "root.json"];
  const { code, stderr } = await sign(args, { SIGSTORE_ID_TOKEN: tokenOf("someone") });
  server.close();
  expect(code, stderr).toBe(0);
  expect(readFileSync(project.at("pdf/skill.sigstore.json"), "utf8")).toContain("signedTimestamp");
});
