import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startCli } from "../../cli/run-cli.ts";

/** `acp-skills browse` over a temporary project. */
export interface OpenBrowse {
  /** With a code that works once. */
  readonly address: string;
  readonly project: string;
  /** Writes the SKILL.md of a skill, by the name of its directory. */
  write(name: string, text: string): void;
  remove(name: string): void;
  /** Ends the server, and waits until it has. */
  close(): Promise<void>;
}

/** Starts the built command; `skills` are texts of SKILL.md by the name of their directory. */
export async function openBrowse(
  skills: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<OpenBrowse> {
  const home = mkdtempSync(path.join(tmpdir(), "acp-skills-browse-"));
  const project = path.join(home, "project");
  const directoryOf = (name: string): string => path.join(project, ".agents", "skills", name);
  const write = (name: string, text: string): void => {
    mkdirSync(directoryOf(name), { recursive: true });
    writeFileSync(path.join(directoryOf(name), "SKILL.md"), text);
  };
  mkdirSync(project);
  for (const [name, text] of Object.entries(skills)) write(name, text);
  const child = startCli(["browse", "--no-open", ...options], { cwd: project, env: { HOME: home } });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let said = "";
  const address = await new Promise<string>((resolve, reject) => {
    const listen = (text: string): void => {
      said += text;
      const [found] = /http:\/\/\S+/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.setEncoding("utf8").on("data", listen);
    child.stderr.setEncoding("utf8").on("data", listen);
    void closed.then(() => {
      reject(new Error(`acp-skills browse ended: ${said}`));
    });
  });
  return {
    address,
    project,
    write,
    remove: (name) => {
      rmSync(directoryOf(name), { recursive: true });
    },
    async close() {
      child.kill("SIGINT");
      await closed;
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** The text of a SKILL.md. */
export function skillText(name: string, description: string, body = `# ${name}\n`): string {
  return `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body}`;
}
