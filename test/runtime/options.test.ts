import { homedir } from "node:os";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { isSkillsError } from "../../src/base/errors.ts";
import { readOptions, toSettingsData } from "../../src/runtime/options.ts";
import { version } from "../../src/base/version.ts";

function fault(options: unknown): { code: string; message: string; facts: Readonly<Record<string, unknown>> } {
  try {
    readOptions(options);
  } catch (error) {
    if (isSkillsError(error)) return error;
    throw error;
  }
  throw new Error("accepted");
}

test("has a default for every option", () => {
  expect(readOptions()).toMatchObject({
    directories: [],
    defaultRoots: true,
    announce: "auto",
    clock: systemClock,
    home: homedir(),
    version,
  });
});

test("resolves directories against the working directory immediately", () => {
  expect(readOptions({ directories: ["a", "/b"] }).directories).toEqual([resolve("a"), resolve("/b")]);
});

test("treats an undefined option as absent", () => {
  expect(readOptions({ announce: undefined, directories: undefined })).toMatchObject({
    announce: "auto",
    directories: [],
  });
});

test("resolves the data directory, by default in the home directory", () => {
  expect(readOptions({ dataDirectory: "data" }).dataDirectory).toBe(resolve("data"));
  for (const name of ["ACP_SKILLS_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"]) vi.stubEnv(name, undefined);
  expect(readOptions({}, { home: resolve("home") }).dataDirectory.startsWith(resolve("home"))).toBe(true);
  vi.unstubAllEnvs();
});

test("takes the policy file of the configuration from the option, else from the environment", () => {
  expect(readOptions().policy).toBeUndefined();
  vi.stubEnv("ACP_SKILLS_POLICY", "environment.json");
  expect(readOptions().policy).toBe(resolve("environment.json"));
  expect(readOptions({ policy: "option.json" }).policy).toBe(resolve("option.json"));
  vi.stubEnv("ACP_SKILLS_POLICY", "");
  expect(readOptions().policy).toBeUndefined();
  vi.unstubAllEnvs();
});

test("validates options of a single transport together with the others", () => {
  const own = { cwd: { expected: "a path", accepts: (value: unknown) => typeof value === "string" } };
  expect(() => readOptions({ cwd: 1 }, { rules: own })).toThrow("Option cwd: expected a path, got number.");
  expect(() => readOptions({ cw: "/" }, { rules: own })).toThrow('Did you mean "cwd"?');
  expect(readOptions({ cwd: "/", announce: "rfd" }, { rules: own })).toMatchObject({ announce: "rfd" });
});

test("accepts the names of the version before, and warns once of each", async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error): void => void warnings.push(message);
  process.on("warning", listen);
  const old = { skills: ["/s"], emit: "none", teach: false, approve: false };
  for (const options of [old, old])
    expect(readOptions(options)).toMatchObject({
      directories: ["/s"],
      announce: "none",
      instructModel: false,
      answerPermissions: false,
    });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  expect(warnings).toEqual([
    'Option "skills" of acp-skills is called "directories" now.',
    'Option "emit" of acp-skills is called "announce" now.',
    'Option "teach" of acp-skills is called "instructModel" now.',
    'Option "approve" of acp-skills is called "answerPermissions" now.',
  ]);
  expect(fault({ emit: "loud" }).message).toContain("Option announce");
  expect(fault({ skills: [], directories: [] }).message).toBe(
    "Options skills and directories are the same: leave out skills.",
  );
});

test("takes modules of ports by path or file URL, as URLs, and refuses what they leave without effect", () => {
  const { href } = new URL("file:///a/b.js?x=1");
  const settings = readOptions({
    ports: { sandbox: "own.js", ledger: new URL(href), blobs: href, approvals: undefined },
  });
  expect(settings.ports).toEqual({ sandbox: pathToFileURL(resolve("own.js")).href, ledger: href, blobs: href });
  for (const ports of [{ sandbox: () => undefined }, { sandbox: "" }, { sandbox: new URL("https://example.com/x.js") }])
    expect(fault({ ports }).message).toContain("Option ports: expected an object of file: URLs or paths of modules");
  expect(fault({ ports: { secrets: "x.js" } }).message).toContain(
    'Unknown option "ports.secrets": expected one of sandbox',
  );
  expect(fault({ ports: { sandbox: "x.js" }, isolation: "landlock" }).message).toBe(
    "Option isolation has no effect on ports.sandbox: leave out one of them.",
  );
  expect(fault({ ports: { ledger: "x.js" }, audit: "-" }).facts).toEqual({ option: "audit" });
});

test("does not accept test seams as options", () => {
  for (const name of ["clock", "home", "version"]) expect(fault({ [name]: "x" }).message).toContain("Unknown option");
});

test("returns settings without functions that can be sent to another thread", () => {
  const data = toSettingsData(readOptions({ log: () => undefined, directories: ["/s"] }));
  expect(structuredClone(data)).toEqual(data);
  expect(data).toMatchObject({ directories: ["/s"], announce: "auto" });
});

test.each([
  [{ directorys: [] }, { option: "directorys", nearest: "directories" }, /directorys.*Did you mean "directories"/],
  [{ defaultroots: false }, { option: "defaultroots", nearest: "defaultRoots" }, /Did you mean "defaultRoots"/],
  [{ zzzzzzzzzz: 1 }, { option: "zzzzzzzzzz" }, /expected one of directories, defaultRoots/],
  [{ announce: "comands" }, { option: "announce", nearest: "commands" }, /auto, rfd, commands, none, got "comands"/],
  [{ announce: 1 }, { option: "announce" }, /got number/],
  [{ directories: "dir" }, { option: "directories" }, /array of directory paths, got "dir"/],
  [{ directories: [1] }, { option: "directories" }, /array of directory paths/],
  [{ defaultRoots: "no" }, { option: "defaultRoots" }, /true or false/],
  [{ log: {} }, { option: "log" }, /function/],
  [{ dataDirectory: 1 }, { option: "dataDirectory" }, /non-empty string, got number/],
  [{ blobs: 5 }, { option: "blobs" }, /whole numbers: maxBlobBytes, quotaBytes, maxBlobs, .*ttlMs, got number/],
  [{ blobs: { ttl: 5 } }, { option: "blobs.ttl", nearest: "ttlMs" }, /"blobs.ttl": .* Did you mean "ttlMs"/],
  [{ blobs: { ttlMs: -1 } }, { option: "blobs" }, /whole numbers/],
  [[], { option: "options" }, /an object/],
  [null, { option: "options" }, /got null/],
])("rejects %j, naming the option, the expected value and the nearest name", (options, facts, message) => {
  const { code, message: text, facts: given } = fault(options);
  expect(code).toBe("INVALID_OPTIONS");
  expect(text).toMatch(message);
  expect(given).toMatchObject(facts);
});
