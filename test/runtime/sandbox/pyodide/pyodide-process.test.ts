import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { denoCommand, startPyodide } from "../../../../src/runtime/sandbox/pyodide/pyodide-process.ts";

const child = { deno: "/opt/deno", pyodide: "/opt/pyodide", inside: "/opt/inside", nowhere: "/private/nowhere" };

describe("the command line of the pyodide tier", () => {
  it("allows only reading and explicitly denies every other permission", () => {
    const { arguments: given } = denoCommand(child, "linux");
    expect(given.filter((one) => one.startsWith("--allow"))).toEqual(["--allow-read=/opt/pyodide,/opt/inside"]);
    expect(given.filter((one) => one.startsWith("--deny"))).toEqual(
      ["write", "net", "env", "run", "sys", "ffi", "import"].map((right) => `--deny-${right}`),
    );
    for (const flag of ["--no-prompt", "--no-config", "--no-remote", "--no-npm", "--no-lock", "--cached-only"]) {
      expect(given).toContain(flag);
    }
    expect(given.some((one) => /^(-A|-P|--allow-all|--permission-set|--unstable|--inspect|--env-file)/.test(one))).toBe(
      false,
    );
  });

  it("also allows reading the compiled library if there is one", () => {
    const { arguments: given } = denoCommand({ ...child, library: "/cache/library.zip" }, "linux");
    expect(given).toContain("--allow-read=/opt/pyodide,/opt/inside,/cache/library.zip");
    expect(JSON.parse(given.at(-1) ?? "")).toMatchObject({ library: "/cache/library.zip" });
  });

  it("escapes commas in paths", () => {
    const path = fc.string({ unit: fc.constantFrom("a", ",", " ", "/"), maxLength: 20 }).map((text) => `/${text}`);
    fc.assert(
      fc.property(path, path, (pyodide, inside) => {
        const given = denoCommand({ ...child, pyodide, inside }, "linux").arguments;
        const value = given.find((one) => one.startsWith("--allow-read="))?.slice("--allow-read=".length) ?? "";
        expect(split(value)).toEqual([pyodide, inside]);
      }),
    );
  });

  it("passes no environment variables of the host", () => {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const { environment } = denoCommand(child, platform);
      const known = [
        "DENO_DIR",
        "DENO_NO_PROMPT",
        "DENO_NO_UPDATE_CHECK",
        "DENO_WEBGPU_BACKEND",
        "NO_COLOR",
        "TMPDIR",
        "TZ",
      ];
      const windows = platform === "win32" ? ["SystemRoot", "TEMP", "TMP"] : [];
      expect(Object.keys(environment).sort()).toEqual([...known, ...windows].sort());
      expect(environment["DENO_WEBGPU_BACKEND"]).toBe("none");
    }
  });

  it("disables file writes and core dumps with ulimit, except on Windows", () => {
    const { file, arguments: given } = denoCommand(child, "darwin");
    expect([file, ...given.slice(0, 3)]).toEqual([
      "/bin/sh",
      "-c",
      'ulimit -f 0 && ulimit -c 0 && exec "$0" "$@"',
      "/opt/deno",
    ]);
    expect(denoCommand(child, "win32").file).toBe("/opt/deno");
  });
});

/** Splits like Deno: from the left, and a doubled comma is an escaped one. */
function split(value: string): string[] {
  const paths = [""];
  for (let at = 0; at < value.length; at++) {
    const isEscaped = value.startsWith(",,", at);
    if (value[at] === "," && !isEscaped) paths.push("");
    else paths.push(`${paths.pop() ?? ""}${value[at] ?? ""}`);
    if (isEscaped) at++;
  }
  return paths;
}

const descriptors = "/proc/self/fd";

describe.runIf(existsSync(descriptors))("a child", () => {
  it("leaves no descriptor, although nobody read what it sent last", async () => {
    // More than a pipe and the stream hold: the rest waits for a reader.
    const program = `
      const ready = Buffer.from(JSON.stringify({ type: "ready" }));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(ready.length);
      process.stdout.write(Buffer.concat([length, ready, Buffer.alloc(4 * 1024 * 1024)]));
      setInterval(() => undefined, 1_000);
    `;
    const command = { file: process.execPath, arguments: ["-e", program], environment: {} };
    const before = readdirSync(descriptors).length;
    for (let round = 0; round < 5; round++) {
      const started = await startPyodide(command, tmpdir(), undefined, systemClock);
      await started.end();
    }
    await expect.poll(() => readdirSync(descriptors).length).toBe(before);
  });
});
