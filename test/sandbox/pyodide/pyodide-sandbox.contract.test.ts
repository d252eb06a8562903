import { describeSandbox } from "../../contract/sandbox-contract.ts";
import { openPyodideForTests } from "./open-pyodide.ts";

/** Every run starts a WebAssembly engine, so the whole suite takes minutes. */
const isAsked = process.env["ACP_SKILLS_SLOW_TESTS"] !== undefined;

describeSandbox("pyodide", {
  tier: "pyodide",
  open: () => (isAsked ? openPyodideForTests() : Promise.resolve({ skip: "slow: set ACP_SKILLS_SLOW_TESTS" })),
  offers: ["code", "skill", "python script", "secrets", "brokered"],
  processes: false,
  namespaces: true,
});
