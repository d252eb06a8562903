import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const root = fileURLToPath(new URL("../src/browser", import.meta.url));

/** Builds the skill browser: one script for the page, and one that any page can load to have the element. */
export default defineConfig({
  root,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    outDir: fileURLToPath(new URL("../dist/browser", import.meta.url)),
    emptyOutDir: true,
    rolldownOptions: {
      input: { page: `${root}/page.ts`, "acp-skill-browser": `${root}/element.ts` },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
