import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const root = fileURLToPath(new URL("../src/browser/page", import.meta.url));

/** Builds the skill browser: one script for the page, and one that any page can load to have the element; their styles are files beside them. */
export default defineConfig({
  root,
  base: "./",
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    outDir: fileURLToPath(new URL("../dist/browser", import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // What is bundled asks for its license to come with it.
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      input: { page: `${root}/mount/page.ts`, "acp-skill-browser": `${root}/mount/element.ts` },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
