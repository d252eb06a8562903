// Records COUNT entries in the ledger in a directory. Usage: recording-process.js DIRECTORY NAME COUNT MAX_FILE_BYTES
import { diskLedger } from "../../../.build/runtime/ledger/disk-ledger.js";

const [, , directory = "", name = "", count = "0", maxFileBytes = "0"] = process.argv;
const ledger = diskLedger(directory, {
  log: (_level, message) => void process.stderr.write(`${message}\n`),
  maxFileBytes: Number(maxFileBytes),
});
for (let at = 0; at < Number(count); at++) {
  ledger.record({ at, tool: name, skill: "a skill of some length", sessionId: "session", door: "mcp" });
}
ledger.close();
