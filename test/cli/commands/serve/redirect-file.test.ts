import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { writeRedirectFile } from "../../../../src/cli/commands/serve/browse.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const address = "http://127.0.0.1:7331/#code=abc";

describe("the file that leads a browser to the address", () => {
  it("has the address, is readable by this user only, and is removed", () => {
    const { url, remove } = writeRedirectFile(project.directory, address);
    expect(url).not.toContain("abc");
    const file = fileURLToPath(url);
    expect(readFileSync(file, "utf8")).toContain(`content="0; url=${address}"`);
    if (process.platform !== "win32") {
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    }
    remove();
    remove();
    expect(existsSync(file)).toBe(false);
  });

  it("writes through no link that lies in its place", () => {
    const victim = path.join(project.directory, "victim");
    writeFileSync(victim, "as it was");
    mkdirSync(path.join(project.directory, "browse"), { mode: 0o700 });
    symlinkSync(victim, path.join(project.directory, "browse", `open-${process.pid}.html`));
    writeRedirectFile(project.directory, address).remove();
    expect(readFileSync(victim, "utf8")).toBe("as it was");
  });
});
