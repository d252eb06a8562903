import { createHash, generateKeyPairSync, sign, verify } from "node:crypto";
import { generateSigningKey, openSignatures, signSkill } from "../../.build/skills/signature.js";
import { alternate, summarise, summariseRatio } from "./measure.js";

/** @import { Row } from "./report.js" */

const digest = `sha256:${createHash("sha256").update("a skill").digest("hex")}`;

/**
 * Measures verifying who signed a skill: once a process has loaded what that takes, and the first time, which loads it.
 * @returns {Promise<Row[]>}
 */
export async function measureSignatures() {
  const { pem } = await generateSigningKey(undefined);
  const text = await signSkill(
    { name: "pdf", version: "1.0.0", digest },
    { file: "key.pem", pem, passphrase: undefined },
  );
  const files = [{ path: "skill.sigstore.json", bytes: Buffer.from(text) }];
  const signatures = openSignatures();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const signature = sign(null, files[0]?.bytes ?? Buffer.alloc(0), privateKey);
  const unsigned = [{ path: "SKILL.md", bytes: Buffer.from("---\n") }];
  const expectState = async (/** @type {typeof files} */ of, /** @type {string} */ state) => {
    const found = await signatures.ofFiles(of, digest);
    if (found.state !== state) throw new Error(`expected ${state}, found ${JSON.stringify(found)}`);
  };
  const times = await alternate(
    {
      verify: () => timeOf(20, () => expectState(files, "signed")),
      floor: () => timeOf(20, () => void verify(null, files[0]?.bytes ?? Buffer.alloc(0), publicKey, signature)),
      unsigned: () => timeOf(20, () => expectState(unsigned, "unsigned")),
    },
    20,
  );
  return [
    {
      what: "verifying the signature of a skill by a key pair",
      unit: "ms",
      ours: summarise(times.verify),
      ratio: summariseRatio(times.verify, times.floor),
      floor: { is: "one verification by node:crypto", value: summarise(times.floor) },
      target: "≤ 30 ms",
      holds: summarise(times.verify).median <= 30,
    },
    {
      what: "a skill without a signature",
      unit: "ms",
      ours: summarise(times.unsigned),
      target: "≤ 0.1 ms",
      holds: summarise(times.unsigned).median <= 0.1,
    },
  ];
}

/**
 * Milliseconds of one of several calls.
 * @param {number} count
 * @param {() => unknown} work
 */
async function timeOf(count, work) {
  const start = performance.now();
  for (let left = count; left > 0; left--) await work();
  return (performance.now() - start) / count;
}
