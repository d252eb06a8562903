import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const root = fileURLToPath(new URL("../src/browser", import.meta.url));

/**
 * Leaves out marked's default instance and the functions around it, which nobody here calls: a bundler keeps them, and all that they use, because
 * making them may have effects. Its classes stay, as far as they are imported.
 */
const onlyClassesOfMarked: Plugin = {
  name: "only-classes-of-marked",
  transform: {
    filter: { id: /\/marked\/lib\/marked\.esm\.js$/ },
    handler(code) {
      const [, before, exported] = /^([^]*;)var \w+=new \w+;function [^]*;export\{([^}]*)\};/.exec(code) ?? [];
      if (before === undefined || exported === undefined) this.error("marked is not written as expected");
      const classes = exported.split(",").filter((name) => / as [A-Z]/.test(name));
      return { code: `${before}export{${classes.join(",")}};`, map: null };
    },
  },
};

/** Builds the skill browser: one script for the page, and one that any page can load to have the element; their styles are files beside them. */
export default defineConfig({
  root,
  base: "./",
  plugins: [onlyClassesOfMarked],
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    outDir: fileURLToPath(new URL("../dist/browser", import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { page: `${root}/mount/page.ts`, "acp-skill-browser": `${root}/mount/element.ts` },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
