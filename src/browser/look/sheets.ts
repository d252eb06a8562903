import base from "./base.css?inline";
import detail from "./detail.css?inline";
import list from "./list.css?inline";
import markdown from "./markdown.css?inline";
import parts from "./parts.css?inline";
import runs from "./runs.css?inline";
import shell from "./shell.css?inline";
import sources from "./sources.css?inline";
import theme from "./theme.css?inline";
import views from "./views.css?inline";

/** Every stylesheet of the browser, in order. A view adds its own here. */
const texts = [theme, base, parts, shell, list, detail, markdown, views, runs, sources];

let sheets: readonly CSSStyleSheet[] | undefined;

/** Made once and shared by all browsers of a page. */
export function sharedSheets(): readonly CSSStyleSheet[] {
  sheets ??= texts.map(toSheet);
  return sheets;
}

export function toSheet(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}
