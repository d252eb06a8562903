import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; require-trusted-types-for 'script'; trusted-types acp-skills";

/** A page of the Markdown room alone, under the policy of the browser: `showText` renders a text, `showHtml` what sanitising leaves of HTML. */
export async function serveRoom(): Promise<{ readonly address: string; close(): Promise<void> }> {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { h, render } from "preact";
        import { Markdown } from "./markdown.tsx";
        import { markdownNodes } from "./markdown-nodes.tsx";
        import { sanitiseHtml } from "./sanitise-html.ts";
        const around = { files: new Set(), openFile() {}, under: 2 };
        const shown = document.querySelector("#shown");
        globalThis.showText = (text) => render(h(Markdown, { text, ...around }), shown);
        globalThis.showHtml = (html) => render(h("div", {}, markdownNodes(sanitiseHtml(html), around)), shown);
      `,
      resolveDir: fileURLToPath(new URL("../../../src/browser/markdown", import.meta.url)),
    },
    bundle: true,
    format: "esm",
    write: false,
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  const script = outputFiles[0]?.text ?? "";
  const server = createServer((request, response) => {
    response.setHeader("content-security-policy", policy);
    if (request.url === "/room.js") response.setHeader("content-type", "text/javascript").end(script);
    else
      response
        .setHeader("content-type", "text/html; charset=utf-8")
        .end(
          `<!doctype html><link rel="icon" href="data:,"><div id="shown"></div><script type="module" src="/room.js"></script>`,
        );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
