import "./element.ts";

document.body.append(document.createElement("acp-skill-browser"));
