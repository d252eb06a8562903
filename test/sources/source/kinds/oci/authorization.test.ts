import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openSourceReader } from "../../../../../src/sources/reader.ts";
import { openFetcher } from "../../../../../src/sources/fetch.ts";
import { parseSource, sourceKindOf } from "../../../../../src/sources/source.ts";
import { openRegistrySource } from "../../../../../src/sources/source/kinds/oci/registry-source.ts";
import { describeSourceReader } from "../../../../contract/source-reader.ts";
import { type HostileServer, answers, openHostileServer, openWorld, publicAddress } from "../../../hostile-server.ts";
import { plain, pushArtifact, skillFiles } from "./artifacts.ts";
import { hasRegistry, openRealRegistry, whyNoRegistry } from "./real-registry.ts";
import { openTokenServer, person } from "./token-server.ts";

const { signal } = new AbortController();
const basic = `Basic ${Buffer.from(`${person.user}:${person.secret}`).toString("base64")}`;
const auth = Buffer.from(`${person.user}:${person.secret}`).toString("base64");
const artifact = await plain([...skillFiles("alpha", "alpha"), ...skillFiles("beta", "beta")]);

let home = "";
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "acp-skills-home-"));
  for (const name of ["REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"]) vi.stubEnv(name, "");
  vi.stubEnv("XDG_CONFIG_HOME", path.join(home, "xdg"));
  vi.stubEnv("DOCKER_CONFIG", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

function store(config: object, file = "config.json"): void {
  mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
  writeFileSync(path.join(home, file), JSON.stringify(config), { mode: 0o600 });
}

/** A program on the PATH that stores credentials. */
function helper(name: string, code: string): void {
  const bin = path.join(home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(path.join(bin, `docker-credential-${name}`), `#!${process.execPath}\n${code}`);
  chmodSync(path.join(bin, `docker-credential-${name}`), 0o755);
  vi.stubEnv("PATH", `${bin}${path.delimiter}${process.env["PATH"] ?? ""}`);
}

async function names(label: string, allowPrivate: readonly string[]): Promise<readonly string[]> {
  const reader = openSourceReader({ allowPrivate });
  try {
    const { skills } = await reader.list(parseSource(label), signal);
    const [first] = skills;
    if (first !== undefined) await reader.skillFiles(first, signal);
    return skills.map(({ name }) => name);
  } finally {
    await reader.close();
  }
}

describe.skipIf(!hasRegistry)(`a real registry with a token server${whyNoRegistry}`, async () => {
  const tokens = await openTokenServer();
  const registry = hasRegistry
    ? await openRealRegistry(tokens.auth)
    : { host: "127.0.0.1:1", close: () => Promise.resolve() };
  afterAll(async () => {
    await registry.close();
    await tokens.close();
  });
  const allowed = [registry.host, tokens.host];
  beforeEach(() => void tokens.asked.splice(0));

  async function push(repository: string): Promise<void> {
    const url = `http://${tokens.host}/token?scope=repository:${repository}:pull,push`;
    const answer = await fetch(url, { headers: { authorization: basic } });
    const { access_token } = (await answer.json()) as { readonly access_token: string };
    await pushArtifact(`http://${registry.host}/v2/${repository}`, "1", artifact, {
      authorization: `Bearer ${access_token}`,
    });
    tokens.asked.splice(0);
  }

  describeSourceReader("openSourceReader, of a registry with a token server", async () => {
    await push("public/contract");
    return {
      reader: openSourceReader({ allowPrivate: [...allowed, "127.0.0.1:1"] }),
      source: parseSource(`oci://${registry.host}/public/contract:1`),
      unreachable: parseSource("oci://127.0.0.1:1/contract"),
    };
  });

  test("gets an anonymous token for what is public, once for all requests, and asks for no more than to pull", async () => {
    await push("public/skills");
    expect(await names(`oci://${registry.host}/public/skills:1`, allowed)).toEqual(["alpha", "beta"]);
    expect(tokens.asked).toMatchObject([{ method: "GET", authorization: undefined }]);
    const [{ parameters } = { parameters: new URLSearchParams() }] = tokens.asked;
    expect(Object.fromEntries(parameters)).toEqual({
      service: "test-registry",
      scope: "repository:public/skills:pull",
    });
  });

  test("says how to log in where nothing is stored", async () => {
    await push("private/skills");
    const refused = names(`oci://${registry.host}/private/skills:1`, allowed);
    await expect(refused).rejects.toMatchObject({
      code: "AUTH_REQUIRED",
      message: expect.stringMatching(/answered with status 401 \(UNAUTHORIZED\) for the manifest .* docker login 127\.0\.0\.1:\d+, or --token env:NAME/) as string, // prettier-ignore
    });
  });

  test.each([
    ["auths of Docker", () => store({ auths: { [registry.host]: { auth } } })],
    ["a URL in auths of Docker", () => store({ auths: { [`http://${registry.host}/v2/`]: { auth } } })],
    ["a user and a password", () => store({ auths: { [registry.host]: { username: person.user, password: person.secret } } })], // prettier-ignore
    ["an identity token", () => store({ auths: { [registry.host]: { identitytoken: person.refresh } } })],
    ["Podman's file, for a part of the registry", () => store({ auths: { [registry.host]: { auth: "eDp5" }, [`${registry.host}/private`]: { auth } } }, "xdg/containers/auth.json")], // prettier-ignore
    ["a helper for all registries", () => { store({ credsStore: "test" }); helper("test", reply); }], // prettier-ignore
    ["a helper for this registry", () => { store({ credsStore: "missing", credHelpers: { [registry.host]: "test" } }); helper("test", reply); }], // prettier-ignore
    ["a helper that has an identity token", () => { store({ credsStore: "test" }); helper("test", reply.replace(person.user, "<token>").replace(person.secret, person.refresh)); }], // prettier-ignore
  ])("reads what is private with %s", async (_where, prepare) => {
    await push("private/skills");
    prepare();
    expect(await names(`oci://${registry.host}/private/skills:1`, allowed)).toEqual(["alpha", "beta"]);
    expect(tokens.asked).toHaveLength(1);
  });

  test("publishes with a token to push, and without credentials not at all", async () => {
    const source = parseSource(`oci://${registry.host}/private/published:1.0.0`);
    const skill = { slug: "published", version: "1.0.0", description: "Does it.", allowedTools: [], files: skillFiles("published"), signature: undefined }; // prettier-ignore
    const addresses = { allowPrivate: allowed };
    const fetcher = openFetcher(addresses);
    onTestFinished(() => fetcher.close());
    const publish = async () =>
      await sourceKindOf(source.label)?.publish?.(source, [skill], { ...addresses, fetcher, signal, replaces: false });
    await expect(publish()).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    store({ auths: { [registry.host]: { auth } } });
    tokens.asked.splice(0);
    expect(await publish()).toMatchObject([{ slug: "published", isUnchanged: false }]);
    expect(tokens.asked.map(({ parameters }) => parameters.get("scope"))).toEqual(["repository:private/published:pull,push"]); // prettier-ignore
    expect(await publish()).toMatchObject([{ slug: "published", isUnchanged: true }]);
    expect(await names(`oci://${registry.host}/private/published`, allowed)).toEqual(["published"]);
  });

  test("credentials that are stored for another registry stay there", async () => {
    await push("public/skills");
    store({ auths: { "ghcr.io": { auth } } });
    await names(`oci://${registry.host}/public/skills:1`, allowed);
    expect(tokens.asked.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("says whose credentials the token server refuses", async () => {
    store({ auths: { [registry.host]: { auth: Buffer.from("ada:wrong").toString("base64") } } });
    const refused = names(`oci://${registry.host}/public/skills:1`, allowed);
    await expect(refused).rejects.toThrow(
      /The token server that 127\S+ names answered with status 401 to the credentials that are stored for 127/,
    );
    await expect(refused).rejects.not.toThrow(/wrong/);
  });

  test("does not ask a token server on a private address that nobody allowed", async () => {
    const refused = names(`oci://${registry.host}/public/skills:1`, [registry.host]);
    await expect(refused).rejects.toThrow(
      /The token server that \S+ names cannot be asked: 127\.0\.0\.1 is a private address; .* --allow-private 127/,
    );
    expect(tokens.asked).toEqual([]);
  });
});

const reply = `let text = ""; process.stdin.on("data", (chunk) => text += chunk).on("end", () => {
  if (process.argv[2] === "get" && text.startsWith("127.0.0.1:")) console.log(JSON.stringify({ ServerURL: text, Username: "${person.user}", Secret: "${person.secret}" }));
  else process.exit(3);
});`;

describe.skipIf(!hasRegistry)(`a real registry with passwords${whyNoRegistry}`, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-passwords-"));
  // The bcrypt of the secret.
  writeFileSync(
    path.join(directory, "htpasswd"),
    `${person.user}:$2b$04$2.XwqRXY5zUg5IT6Bf63uuhEy9m671Ivv2xd8ScZmC2xSptMQU4G6\n`,
  );
  const lines = `auth:\n  htpasswd:\n    realm: test\n    path: ${path.join(directory, "htpasswd")}\n`;
  const registry = hasRegistry
    ? await openRealRegistry(lines)
    : { host: "127.0.0.1:1", close: () => Promise.resolve() };
  afterAll(async () => {
    await registry.close();
    rmSync(directory, { recursive: true });
  });

  test("is sent the password that is stored for it", async () => {
    await pushArtifact(`http://${registry.host}/v2/skills`, "1", artifact, { authorization: basic });
    await expect(names(`oci://${registry.host}/skills:1`, [registry.host])).rejects.toThrow("which needs credentials");
    store({ auths: { [registry.host]: { auth } } });
    expect(await names(`oci://${registry.host}/skills:1`, [registry.host])).toEqual(["alpha", "beta"]);
  });
});

describe("what is stored, and cannot be used, is said in a sentence without it", () => {
  async function refusal(): Promise<string> {
    const server = await openHostileServer();
    server.on("/v2/skills/manifests/1", answers.status(401, { "www-authenticate": 'Basic realm="x"' }));
    return await names(`oci://127.0.0.1:${server.port}/skills:1`, [`127.0.0.1:${server.port}`]).then(
      () => "nothing",
      (error: unknown) => (error instanceof Error ? error.message : ""),
    );
  }

  test.each([
    ["[1", /config\.json cannot be used: it is not a JSON object\. Log in again\.$/],
    [JSON.stringify({ credsStore: "../evil" }), /has a name that is none: lower-case letters, digits and hyphens\.$/],
    [JSON.stringify({ credsStore: "test;rm" }), /has a name that is none/],
    [
      JSON.stringify({ credsStore: "absent" }),
      /^docker-credential-absent is named in the Docker configuration, and not on the PATH\.$/,
    ],
  ])("%s", async (text, sentence) => {
    writeFileSync(path.join(home, "config.json"), text, { mode: 0o600 });
    expect(await refusal()).toMatch(sentence);
  });

  test("a file that others may write", async () => {
    store({});
    chmodSync(path.join(home, "config.json"), 0o666);
    expect(await refusal()).toMatch(/config\.json cannot be used: others may write to .*chmod go-w/);
  });

  test.each([
    ["process.exit(1)", /^docker-credential-test ended with 1\.$/],
    ["console.log('hunter2')", /^docker-credential-test printed no credentials\.$/],
    ["setInterval(() => process.stdout.write('x'.repeat(65536)), 1)", /^docker-credential-test ended with a signal\.$/],
    ["console.log('credentials not found in native keychain'); process.exit(1)", /which needs credentials/],
  ])("a helper that says %s", async (code, sentence) => {
    store({ credsStore: "test" });
    helper("test", code);
    const said = await refusal();
    expect(said).toMatch(sentence);
    expect(said).not.toContain("hunter2");
  });
});

describe("a registry that wants credentials for somebody else", () => {
  const challenge = (realm: string) => ({
    "www-authenticate": `Bearer realm="${realm}",service="x",scope="repository:other:push,pull"`,
  });

  async function open(realm: string, { allowPrivate = [] as readonly string[] } = {}) {
    const server: HostileServer = await openHostileServer({ secure: true });
    const world = openWorld({ server, allowPrivate, names: { "example.com": [[publicAddress]], "auth.example.com": [[publicAddress]], "inside.example.com": [["10.0.0.5"]] } }); // prettier-ignore
    server.on("/v2/skills/manifests/1", answers.status(401, challenge(realm)));
    store({ auths: { "example.com": { auth } } });
    const driver = openRegistrySource({ ...world.options, fetcher: world.fetcher });
    onTestFinished(() => driver.close());
    const source = parseSource("oci://example.com/skills:1");
    return { server, world, read: () => driver.readIndex(source, { signal }) };
  }

  test.each([
    ["http://auth.example.com/token", "is not asked: its URL is not https"],
    ["http://127.0.0.1:5000/token", "is not asked: its URL is not https"],
    ["ftp://auth.example.com/token", "is not asked: its URL is not https"],
    ["https://me:x@auth.example.com/token", "has user information in its URL"],
    ["token", "has no valid URL"],
    [
      "https://inside.example.com/token",
      "inside.example.com resolves to a private address; if you trust it, allow it with --allow-private inside.example.com",
    ],
    ["https://169.254.169.254/token", "169.254.169.254 is a private address"],
  ])("is refused its token server %s", async (realm, why) => {
    const { server, read } = await open(realm);
    await expect(read()).rejects.toThrow(why);
    expect(server.asked.map(({ url }) => url)).toEqual(["/v2/skills/manifests/1"]);
  });

  test("is refused a token server on a private host that was allowed for others", async () => {
    const { server, read } = await open("https://inside.example.com/token", { allowPrivate: ["inside.example.com"] });
    await expect(read()).rejects.toThrow(
      "is on the private host inside.example.com, to which a public registry must not lead",
    );
    expect(server.asked).toHaveLength(1);
  });

  test("gets a token of the scope that we want, and sends it to nobody that it redirects to", async () => {
    const { server, read } = await open("https://auth.example.com/token?account=a");
    const layer = artifact.blobs[1];
    server.on("/token", answers.json({ token: "t0ken" }));
    server.on("/v2/skills/manifests/1", (request, response) =>
      (request.headers.authorization === "Bearer t0ken"
        ? answers.bytes(artifact.top.bytes)
        : answers.status(401, challenge("https://auth.example.com/token?account=a")))(request, response),
    );
    const blob = `/v2/skills/blobs/${String(layer?.descriptor.digest)}`;
    server.on(blob, answers.redirect("https://auth.example.com/stored"));
    server.on("/stored", answers.bytes(layer?.bytes ?? ""));
    const index = await read();
    expect(index === "unchanged" ? [] : index.skills.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    const seen = new Map(server.asked.map(({ url, headers }) => [url.replace(/\?.*/, ""), headers.authorization]));
    expect(seen.get("/token")).toBe(basic);
    expect(seen.get(blob)).toBe("Bearer t0ken");
    expect(seen.get("/stored")).toBeUndefined();
    const asked = server.asked.find(({ url }) => url.startsWith("/token"))?.url;
    expect(Object.fromEntries(new URL(asked ?? "", "https://x").searchParams)).toEqual({ account: "a", service: "x", scope: "repository:skills:pull" }); // prettier-ignore
  });

  test("does not get credentials for a host that it redirected to, and that asks for some", async () => {
    const { server, read } = await open("https://auth.example.com/token");
    server.on("/v2/skills/manifests/1", answers.redirect("https://auth.example.com/other"));
    server.on("/other", answers.status(401, challenge("https://auth.example.com/token")));
    await expect(read()).rejects.toThrow("auth.example.com answered with status 401");
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  test.each([
    ["no JSON", answers.bytes("x"), "answered with no token"],
    ["a token of several lines", answers.json({ token: "a\r\nb" }), "answered with no token"],
    ["an error", answers.status(503), "answered with status 503"],
    ["without end", answers.endlessly(200), "sent more than 262144 bytes"],
  ])("is told that its token server answers with %s", async (_what, answer, why) => {
    const { server, read } = await open("https://auth.example.com/token");
    server.on("/token", answer);
    await expect(read()).rejects.toThrow(why);
  });
});
