import "./element.ts";
import "../styles/page.css";
import { exchangeCode } from "../source/http-request.ts";

await exchangeCode(window);
const element = document.createElement("acp-skill-browser");
element.setAttribute("url", "");
element.setAttribute("server", "");
document.body.append(element);
