// A demo with real processes: an editor, `acp-skills -- <agent>`, skills that change on disk, and one that runs in a sandbox.
import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openEditor } from "./editor.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const sandbox = await mkdtemp(join(tmpdir(), "acp-skills-demo-"));
const project = join(sandbox, "project");
// An empty home directory keeps the user's own skills out of the demo.
const home = join(sandbox, "home");
const skillsFolder = join(project, ".agents", "skills");
await cp(join(here, "skills"), skillsFolder, { recursive: true });

/** @type {{ step: string, passed: boolean, detail: string }[]} */
const results = [];
/**
 * @param {string} step
 * @param {boolean} passed
 * @param {string} detail
 */
function note(step, passed, detail) {
  results.push({ step, passed, detail });
  console.log(`${passed ? "ok  " : "FAIL"} ${step}`);
}
/** Passes a table as a blob and reads the cleaned table from another. */
async function runSkill() {
  try {
    const table = "name,city\nAda, London\nAda,London\n,\nGrace,New York\n";
    const { blob_id } = await editor.call("create_blob", { content: table, kind: "text/csv" });
    const run = await editor.call("execute_skill", { name: "rows.clean", args: { table: blob_id } });
    const [made = ""] = run.output_blobs;
    const clean = await editor.call("read_blob", { blob_id: made });
    const passed = run.status === "completed" && clean.content === "name,city\r\nAda,London\r\nGrace,New York\r\n";
    return { passed, detail: `${run.summary} ${run.duration_ms} ms, isolated by ${run.limits_applied.isolation}` };
  } catch (error) {
    return { passed: cannot(error), detail: error instanceof Error ? error.message : String(error) };
  }
}
/** What would let this machine do more. */
let more = "";
/**
 * Whether a call was refused because of what isolates code on this machine: nobody is asked about that.
 * @param {unknown} error
 */
function cannot(error) {
  const { code, hint = "" } = /** @type {{ data?: { code?: string, hint?: string } }} */ (error).data ?? {};
  if (code !== "SANDBOX_UNAVAILABLE") return false;
  more = hint;
  return true;
}
const milliseconds = async (/** @type {() => Promise<boolean>} */ work) => {
  const start = performance.now();
  const passed = await work();
  return { passed, detail: `${(performance.now() - start).toFixed(0)} ms from disk to editor` };
};

console.log("editor > acp-skills -- node examples/echo-agent.js\n");
const editor = await openEditor({
  command: [process.execPath, join(here, "../dist/cli/main.js"), "--", process.execPath, join(here, "echo-agent.js")],
  cwd: project,
  env: { HOME: home, USERPROFILE: home, ACP_SKILLS_HOME: join(sandbox, "data") },
  print: (line) => console.log(line),
});
try {
  const { advertisement } = editor;
  note("the agent advertises skills", advertisement !== undefined, `acp-skills ${advertisement?.version ?? "?"}`);

  const names = () =>
    editor
      .skills()
      .map(({ name }) => name)
      .join(" ");
  const listed = await editor.until(() => names() === "commit-message csv-summary release-notes");
  note("the editor receives the project's skills", listed, names());
  const invocable = await editor.until(() => editor.commands().length === 3);
  note(
    "each skill is a slash command",
    invocable,
    editor
      .commands()
      .map((command) => `/${command.name}`)
      .join(" "),
  );

  const file = join(skillsFolder, "csv-summary", "SKILL.md");
  const text = await readFile(file, "utf8");
  const edited = await milliseconds(async () => {
    await writeFile(file, text.replace("Summarises a CSV file", "Explains a CSV file"));
    return editor.until(() => editor.skills().some(({ description }) => description.startsWith("Explains a CSV file")));
  });
  note("the editor receives an edit on disk", edited.passed, edited.detail);

  const added = await milliseconds(async () => {
    const draft = join(sandbox, "draft");
    await cp(join(here, "skills", "commit-message"), draft, { recursive: true });
    const skill = "---\nname: greet\ndescription: Greets somebody by name.\n---\n\nSay hello, warmly.\n";
    await writeFile(join(draft, "SKILL.md"), skill);
    await rename(draft, join(skillsFolder, "greet"));
    return editor.until(() => names().includes("greet"));
  });
  note("the editor receives a new skill", added.passed, added.detail);

  const removed = await milliseconds(async () => {
    await rm(join(skillsFolder, "release-notes"), { recursive: true });
    return editor.until(() => !names().includes("release-notes"));
  });
  note("the editor drops a removed skill", removed.passed, removed.detail);

  const answer = await editor.prompt("/greet Ada");
  const places = ['Use the skill "greet": Ada', "Say hello, warmly.", "csv-summary"].map((text) =>
    answer.indexOf(text),
  );
  const [words = -1, instructions = -1, taught = -1] = places;
  const invoked = words >= 0 && instructions > words;
  note("/greet Ada sends the skill's instructions to the agent", invoked, "the prompt, then the instructions");
  note("the model gets a list of the skills", taught > instructions, "appended to the first prompt");
  const plain = await editor.prompt("just chatting about /etc/hosts");
  note("an ordinary prompt passes unchanged", plain === "text: just chatting about /etc/hosts\n", plain.trim());

  const found = await editor.call("list_skills", { detail: "summary", limit: 1 });
  note("the editor calls a tool without the model", JSON.stringify(found).includes("commit-message"), "list_skills");

  const action = join(sandbox, "action");
  await cp(join(here, "actions", "rows.clean"), action, { recursive: true });
  await rename(action, join(skillsFolder, "rows.clean"));
  await editor.until(() => names().includes("rows-clean"));
  const ran = await runSkill();
  note("a skill runs in a sandbox and streams its output", ran.passed, ran.detail);

  const networked = join(sandbox, "networked");
  await cp(join(here, "actions", "status.fetch"), networked, { recursive: true });
  await rename(networked, join(skillsFolder, "status.fetch"));
  await editor.until(() => names().includes("status-fetch"));
  const asksFirst = "a skill that wants the network asks first";
  const refused = await editor.call("execute_skill", { name: "status.fetch" }).then(
    () => ({ step: asksFirst, passed: false, detail: "it ran" }),
    (/** @type {unknown} */ error) =>
      cannot(error)
        ? {
            step: "a skill that wants the network is refused",
            passed: true,
            detail: error instanceof Error ? error.message : "",
          }
        : {
            step: asksFirst,
            passed: editor.asked().includes("Host http://127.0.0.1:8787: run status.fetch"),
            detail: "answered: not now",
          },
  );
  note(refused.step, refused.passed, refused.detail);
} finally {
  const exitCode = await editor.close();
  note("closing stdin ends both processes", exitCode === 0, `exit ${exitCode ?? "by signal"}`);
  await rm(sandbox, { recursive: true, force: true });
}

const width = Math.max(...results.map(({ step }) => step.length));
console.log(`\n${"step".padEnd(width)}  result`);
for (const { step, passed, detail } of results)
  console.log(`${step.padEnd(width)}  ${passed ? "ok" : "FAIL"}: ${detail}`);
if (more !== "") console.log(`\nNot everything can run on this machine. ${more}`);
const failed = results.filter(({ passed }) => !passed).length;
console.log(failed === 0 ? `\nAll ${results.length} steps passed.` : `\n${failed} of ${results.length} steps failed.`);
process.exitCode = failed === 0 ? 0 : 1;
