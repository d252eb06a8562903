import { createHash, randomBytes } from "node:crypto";
import { closeSync, copyFileSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { alternate, summarise, summariseRatio } from "./measure.js";
import { expectCompleted } from "./open-runs.js";

/** @import { OpenRuns } from "./open-runs.js" */
/** @import { Row } from "./report.js" */

const size = 8 * 1024 * 1024;

/**
 * Writes the skill that is measured.
 * @param {string} directory
 */
export function writeBlobSkill(directory) {
  const manifest =
    'name = "bench.copy"\nversion = "1.0.0"\ndescription = "Copies a blob."\nkind = "action"\n' +
    '[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n[inputs.blob]\ntype = "blob"\nrequired = true\n';
  // Makes every output different.
  const code = `import os

def main(args):
    blob = args["blob"]
    content = bytearray(runtime.blobs.info(blob)["size_bytes"])
    with runtime.blobs.open(blob, "rb") as file:
        file.readinto(content)
    content[:16] = os.urandom(16)
    return {"summary": None, "output": len(content), "output_blobs": [runtime.blobs.create(content)]}
`;
  writeFileSync(join(directory, "skill.toml"), manifest);
  writeFileSync(join(directory, "SKILL.md"), "---\nname: Copy\ndescription: Copies a blob.\n---\n");
  writeFileSync(join(directory, "main.py"), code);
}

/**
 * Measures a skill that reads a blob and creates another one.
 * @param {OpenRuns} runs
 * @param {string} folder
 * @returns {Promise<Row[]>}
 */
export async function measureBlobRuns(runs, folder) {
  const content = randomBytes(size / 2).toString("hex");
  const { blob_id: blob } = /** @type {{ blob_id: string }} */ (
    await runs.call("create_blob", { content, kind: "text/plain" })
  );
  const file = join(folder, "bytes");
  writeFileSync(file, content);
  const timed = (/** @type {() => unknown} */ act) => async () => {
    await runs.ready();
    const started = performance.now();
    await act();
    return performance.now() - started;
  };
  const times = await alternate(
    {
      hello: async () => (await runs.ready(), await runs.hello()),
      ours: timed(async () =>
        expectCompleted(await runs.call("execute_skill", { name: "bench.copy", args: { blob } })),
      ),
      copying: timed(() => copyTwice(file)),
      keeping: timed(() => keep(file)),
    },
    15,
  );
  const add = (/** @type {readonly number[]} */ others) =>
    others.map((time, round) => time + (times.hello[round] ?? Number.NaN));
  const ratio = summariseRatio(times.ours, add(times.copying));
  return [
    {
      what: "execute_skill, 8 MiB blob in and 8 MiB blob out",
      unit: "ms",
      ours: summarise(times.ours),
      floor: { is: "copying those bytes, and the hello run", value: summarise(add(times.copying)) },
      peer: {
        is: "the same, with the output hashed and synced to disk",
        value: summarise(add(times.keeping)),
      },
      ratio,
      target: "≤ 3 × floor",
      holds: ratio.median <= 3,
      note: `${summariseRatio(times.ours, add(times.keeping)).median.toFixed(2)} × the second`,
    },
  ];
}

/** @param {string} file */
function copyTwice(file) {
  for (const copy of [`${file}-in`, `${file}-out`]) copyFileSync(file, copy);
  for (const copy of [`${file}-in`, `${file}-out`]) rmSync(copy);
}

/** @param {string} file */
function keep(file) {
  copyFileSync(file, `${file}-in`);
  const bytes = readFileSync(`${file}-in`);
  const kept = openSync(`${file}-out`, "w");
  writeSync(kept, bytes);
  fsyncSync(kept);
  closeSync(kept);
  createHash("sha256").update(bytes).digest();
  for (const copy of [`${file}-in`, `${file}-out`]) rmSync(copy);
}
