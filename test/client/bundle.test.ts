import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";
import * as client from "../../src/client/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Bundles code for a browser, where no Node module is available. */
async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

test("bundles all client exports for a browser to at most 12.5 KB, compressed", async () => {
  const text = await bundle(`export * from "acp-skills/client";`);
  for (const name of Object.keys(client)) expect(text).toContain(name);
  expect(gzipSync(text).length).toBeLessThanOrEqual(12.5 * 1024);
});

test("bundles the opt-in alone to at most 3 KB", async () => {
  const text = await bundle(`import { optIn } from "acp-skills/client"; console.log(optIn());`);
  expect(text).toContain("acp-skills");
  expect(text.length).toBeLessThan(3 * 1024);
});
