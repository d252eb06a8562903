import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { summarise } from "./measure.js";
import { openRawEditor, openRawSession } from "./raw-editor.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const agent = [process.execPath, fileURLToPath(new URL("processes/raw-agent.js", import.meta.url))];
const operations = 51;

/**
 * Measures the wrapper's memory while git switches branches under a session's skills. Reads `/proc`, so Linux only.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureMemory({ folder, samples, bin, say }) {
  if (process.platform !== "linux") return [];
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(join(project, ".agents"), { recursive: true });
  mkdirSync(home);
  const { root, files } = writeCorpus(folder, samples, 2_824);
  const skills = join(project, ".agents", "skills");
  renameSync(root, skills);
  const branches = makeBranches(
    project,
    files.map((file) => file.replace(root, skills)),
  );

  const editor = openRawEditor([process.execPath, bin, "--log", join(folder, "log"), "--", ...agent], {
    cwd: project,
    env: { PATH: process.env["PATH"], HOME: home },
  });
  let lists = 0;
  let bytes = 0;
  editor.onLine((line) => {
    lists++;
    bytes += line.length;
  });
  await openRawSession(editor, { cwd: project, optIn: false });
  await pause(2_000);
  const before = memoryOf(editor.pid);
  for (let operation = 1; operation <= operations; operation++) {
    git(project, "checkout", "-q", branches[operation % branches.length] ?? "");
    await pause(400);
  }
  await pause(2_000);
  const after = memoryOf(editor.pid);
  await editor.close();
  say(`${lists} lists of ${(bytes / lists / 1e6).toFixed(1)} MB at the editor`);
  return [
    {
      what: "memory after 51 git operations, 2,824 skills watched",
      unit: "MB",
      ours: summarise([after.now]),
      floor: { is: "the same before them", value: summarise([before.now]) },
      target: "≤ 120 MB",
      holds: after.now <= 120,
      note: `peak ${after.peak.toFixed(0)} MB`,
    },
  ];
}

/**
 * Creates three branches, each with different text in a third of the skills; the last one lacks some of them.
 * @param {string} project
 * @param {readonly string[]} files
 */
function makeBranches(project, files) {
  const branches = ["one", "two", "three"];
  git(project, "init", "-q", "-b", "start");
  git(project, "add", ".");
  git(project, "commit", "-q", "-m", "start");
  for (const [index, branch] of branches.entries()) {
    git(project, "checkout", "-q", "-b", branch, "start");
    for (const [place, file] of files.entries()) {
      if (place % 3 !== index) continue;
      if (index === 2 && place % 10 === 0) rmSync(dirname(file), { recursive: true });
      else writeFileSync(file, readFileSync(file, "utf8").replace(/^description: /m, `description: On ${branch}, `));
    }
    git(project, "commit", "-q", "-a", "-m", branch);
  }
  return branches;
}

/**
 * @param {string} directory
 * @param {string[]} words
 */
function git(directory, ...words) {
  const settings = ["user.name=bench", "user.email=bench@example.com", "commit.gpgsign=false", "gc.auto=0"];
  execFileSync("git", [...settings.flatMap((setting) => ["-c", setting]), ...words], {
    cwd: directory,
    stdio: "ignore",
  });
}

/**
 * The current and peak memory in megabytes.
 * @param {number} pid
 */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const [now = 0, peak = 0] = ["VmRSS", "VmHWM"].map((name) => {
    const [, kilobytes = "0"] = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
    return Number(kilobytes) / 1024;
  });
  return { now, peak };
}
