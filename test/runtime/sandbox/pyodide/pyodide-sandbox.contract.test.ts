import { describeSandbox } from "../../../contract/sandbox-contract.ts";
import { openPyodideForTests } from "./open-pyodide.ts";

describeSandbox("pyodide", {
  tier: "pyodide",
  open: () => openPyodideForTests(),
  offers: ["code", "skill", "python script", "secrets", "brokered"],
  processes: false,
  namespaces: true,
});
