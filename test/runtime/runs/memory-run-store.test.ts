import { memoryRunStore } from "./memory-run-store.ts";
import { describeRunStore } from "../../contract/run-store.ts";

describeRunStore("memory run store", (options) => Promise.resolve({ store: memoryRunStore(options) }));
