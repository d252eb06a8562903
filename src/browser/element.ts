import { h, render } from "preact";
import { App } from "./app.tsx";

class SkillBrowser extends HTMLElement {
  connectedCallback(): void {
    render(h(App, {}), this.attachShadow({ mode: "open" }));
  }
}
customElements.define("acp-skill-browser", SkillBrowser);
