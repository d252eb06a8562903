import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes executable skills to a folder. One of them requests `statusUrl`. */
export async function writeRunningSkills(folder: string, { statusUrl }: { statusUrl: string }): Promise<void> {
  for (const [path, text] of Object.entries({ ...shout, ...lines, ...nap, ...status(statusUrl) })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Converts a blob to upper case and prints two lines meanwhile. */
const shout = action("text.shout", {
  manifest: ['[inputs.text]\ntype = "blob"\nrequired = true'],
  code: `
import time
def main(args):
    print("listening", flush=True)
    # What was printed has the time to travel on its own.
    time.sleep(0.5)
    text = runtime.blobs.read_text(args["text"]).upper()
    print("shouting", flush=True)
    return {"summary": "Shouted.", "output": {"blob": runtime.blobs.create(text, "text/plain")}}
`,
});

/** An Agent Skill with a script. */
const lines = {
  "line-count/SKILL.md": "---\nname: line-count\ndescription: Counts lines.\n---\n\nRun scripts/count.py.\n",
  "line-count/scripts/count.py": 'import sys\nprint("lines:", len(sys.stdin.readlines()), *sys.argv[1:])\n',
};

const longSleep = "import time; time.sleep(86400)";

/** The end of the command line of the process that `nap.long` starts. */
export const sleeper = ` -c ${longSleep}`;

/** Sleeps longer than any test. */
const nap = action("nap.long", {
  code: `
import subprocess, sys
def main():
    # A run finds few programs besides its own interpreter.
    subprocess.run([sys.executable, "-c", ${JSON.stringify(longSleep)}])
`,
});

function status(url: string): Record<string, string> {
  return action("status.fetch", {
    manifest: [`[permissions]\nnetwork = [${JSON.stringify(new URL(url).origin)}]`],
    code: `
import urllib.request
def main():
    with urllib.request.urlopen(${JSON.stringify(url)}) as response:
        return response.read().decode()
`,
  });
}

function action(
  name: string,
  { code, manifest = [] }: { readonly code: string; readonly manifest?: readonly string[] },
): Record<string, string> {
  const fields = [`name = "${name}"`, 'version = "1.0.0"', `description = "Does ${name}."`, 'kind = "action"'];
  const runtime = '[runtime]\nlanguage = "python"\nentrypoint = "main.py"';
  return {
    [`${name}/SKILL.md`]: `---\nname: ${name}\nshort_description: Does ${name}.\n---\n\nRun it.\n`,
    [`${name}/skill.toml`]: [...fields, runtime, ...manifest, ""].join("\n"),
    [`${name}/main.py`]: code,
  };
}
