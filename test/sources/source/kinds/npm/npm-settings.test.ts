import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { readNpmSettings } from "../../../../../src/sources/source/kinds/npm/npm-settings.ts";

function homeWith(npmrc?: string): string {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-home-")));
  onTestFinished(() => rmSync(home, { recursive: true }));
  if (npmrc !== undefined) writeFileSync(path.join(home, ".npmrc"), npmrc, { mode: 0o600 });
  return home;
}

test("without settings, packages are from npm's public registry, asked without a token", () => {
  const settings = readNpmSettings({}, homeWith());
  expect(settings.registryOf("@acme/skills")).toBe("https://registry.npmjs.org/");
  expect(settings.authorizationFor("https://registry.npmjs.org/x")).toBeUndefined();
});

test("a scope has its registry, a host its token, with variables of the environment", () => {
  const npmrc = [
    "; mine",
    "registry = https://mirror.example/npm ; the default",
    '@acme:registry="https://acme.example/api/npm/"',
    "//acme.example/api/npm/:_authToken=${ACME_TOKEN}",
    "//mirror.example/npm/:_auth = dXNlcjpwYXNz",
  ];
  const settings = readNpmSettings({ ACME_TOKEN: "abc" }, homeWith(npmrc.join("\r\n")));
  expect(settings.registryOf("rows")).toBe("https://mirror.example/npm/");
  expect(settings.registryOf("@acme/rows")).toBe("https://acme.example/api/npm/");
  expect(settings.authorizationFor("https://acme.example/api/npm/@acme%2frows")).toBe("Bearer abc");
  expect(settings.authorizationFor("https://acme.example/other")).toBeUndefined();
  expect(settings.authorizationFor("https://acme.example:8443/api/npm/x")).toBeUndefined();
  expect(settings.authorizationFor("https://mirror.example/npm/rows")).toBe("Basic dXNlcjpwYXNz");
});

test("variables of the environment come before the file, which NPM_CONFIG_USERCONFIG may name", () => {
  const home = homeWith("registry=https://file.example/");
  expect(readNpmSettings({ npm_config_registry: "https://env.example" }, home).registryOf("x")).toBe(
    "https://env.example/",
  );
  expect(readNpmSettings({ NPM_CONFIG_REGISTRY: "https://env.example" }, home).registryOf("x")).toBe(
    "https://env.example/",
  );
  const file = path.join(home, ".npmrc");
  expect(readNpmSettings({ NPM_CONFIG_USERCONFIG: file }, homeWith()).registryOf("x")).toBe("https://file.example/");
});

test("a token whose variable is not set is none, and said so; a registry like that is an error and never the public one", () => {
  const settings = readNpmSettings(
    {},
    homeWith("//a.example/:_authToken=${NOWHERE}\n@a:registry=https://${NOWHERE}/\n"),
  );
  expect(settings.authorizationFor("https://a.example/x")).toBeUndefined();
  expect(settings.missing).toEqual(["NOWHERE"]);
  expect(() => settings.registryOf("@a/b")).toThrow("needs ${NOWHERE}, which is not set");
});

test.each([
  ["registry=nowhere", "is not a URL"],
  ["registry=http://registry.example/", "is not read over https"],
  ["registry=https://me:hunter2@registry.example/", "has a user name or a password; write these as //HOST/:_authToken"],
  ["registry=https://registry.example/?token=hunter2", "has a query"],
])("%s is refused", (npmrc, why) => {
  const settings = readNpmSettings({}, homeWith(npmrc));
  expect(() => settings.registryOf("x")).toThrow(why);
  expect(() => settings.registryOf("x")).not.toThrow("hunter2");
});

test("a token that no header can have is refused without its value", () => {
  const settings = readNpmSettings({ T: "a\r\nb" }, homeWith("//a.example/:_authToken=${T}\n"));
  expect(() => settings.authorizationFor("https://a.example/x")).toThrow("is no token; log in again with npm login");
});

test.skipIf(process.platform === "win32")("a file that others may have written is not used", () => {
  const home = homeWith("registry=https://a.example/");
  chmodSync(path.join(home, ".npmrc"), 0o666);
  expect(() => readNpmSettings({}, home)).toThrow(/\.npmrc is not used: others may write to /);
});

test("whatever a file says, a token goes to nothing but the host that it is for", () => {
  const word = fc.constantFrom("//a.example/", ":_authToken", "=", "secret", "\n", " ", "[", "]", '"', "'", "#", ";", "registry", "https://b.example/", "${X}", "//b.example"); // prettier-ignore
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      const file = words.join("");
      const found = readNpmSettings({}, homeWithText(file)).authorizationFor("https://b.example/x");
      if (found !== undefined) expect(file).toContain("//b.example");
    }),
    { numRuns: 300 },
  );
});

const shared = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-home-")));
afterAll(() => rmSync(shared, { recursive: true }));

function homeWithText(text: string): string {
  writeFileSync(path.join(shared, ".npmrc"), text, { mode: 0o600 });
  return shared;
}
