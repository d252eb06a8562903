import "./element.ts";
import page from "./look/page.css?inline";
import { toSheet } from "./look/sheets.ts";
import { exchangeCode } from "./source/exchange-code.ts";

document.adoptedStyleSheets = [toSheet(page)];
await exchangeCode(window);
const element = document.createElement("acp-skill-browser");
element.setAttribute("url", "");
element.setAttribute("server", "");
document.body.append(element);
