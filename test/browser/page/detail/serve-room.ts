import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'";

const room = `
  import { h, render } from "preact";
  import { Markdown } from "./markdown.tsx";
  const around = { files: new Set(["notes/a b.md"]), openFile() {}, under: 2 };
  const shown = document.querySelector("#shown");
  globalThis.showText = (text) => {
    render(h(Markdown, { text, ...around }), shown);
    return shown.querySelector(".markdown")?.innerHTML ?? "";
  };
`;

/** What a sanitiser, which the page itself does not have, would take out of the HTML of what was rendered. */
const secondOpinion = `
  import DOMPurify from "dompurify";
  globalThis.removedFrom = (html) => {
    DOMPurify.sanitize(html, { ADD_ATTR: ["target", "referrerpolicy"] });
    return DOMPurify.removed.map(({ element, attribute, from }) =>
      (element ?? from)?.outerHTML + " " + (attribute?.name ?? ""));
  };
`;

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents,
      resolveDir: fileURLToPath(new URL("../../../../src/browser/page/detail/markdown", import.meta.url)),
    },
    bundle: true,
    format: "esm",
    write: false,
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * A page of the Markdown room alone, under the policy of the browser: `showText` renders a text and returns its HTML. The page `/opinion`
 * has no policy; `removedFrom` returns what a sanitiser would remove.
 */
export async function serveRoom(): Promise<{ readonly address: string; close(): Promise<void> }> {
  const scripts: Readonly<Record<string, string>> = {
    "/room.js": await bundle(room),
    "/opinion.js": await bundle(secondOpinion),
  };
  const server = createServer(({ url = "" }, response) => {
    const name = url === "/opinion" ? "opinion" : "room";
    if (name === "room") response.setHeader("content-security-policy", policy);
    const script = scripts[url];
    if (script !== undefined) response.setHeader("content-type", "text/javascript").end(script);
    else
      response
        .setHeader("content-type", "text/html; charset=utf-8")
        .end(
          `<!doctype html><link rel="icon" href="data:,"><div id="shown"></div><script type="module" src="/${name}.js"></script>`,
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
