// The frame: who may look, which view is open, light or dark.
import { html, render, useEffect, useState } from "./lib/html.js";
import { adoptToken, call, setToken, useLoaded } from "./lib/api.js";
import { Loaded, Loading, Problem } from "./lib/parts.js";
import { link, useRoute } from "./lib/router.js";
import { VIEWS } from "./views.js";

const THEMES = ["auto", "light", "dark"];

function useTheme() {
  const [theme, setTheme] = useState(() => localStorage.getItem("graphctx-theme") ?? "auto");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("graphctx-theme", theme);
  }, [theme]);
  return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

function TokenForm({ onToken }) {
  const submit = (event) => {
    event.preventDefault();
    setToken(new FormData(event.target).get("token").trim());
    onToken();
  };
  return html`
    <main class="token" id="content">
      <h1>graphctx</h1>
      <form onSubmit=${submit}>
        <label for="token">This server needs a bearer token.</label>
        <input id="token" name="token" type="password" autocomplete="off" required autofocus />
        <button class="primary">Open</button>
      </form>
    </main>`;
}

function View({ view, status, params, reload }) {
  const module = useLoaded(() => view.load(), []);
  return html`<${Loaded} of=${module}>
    ${({ default: Component }) => html`<${Component} ...${{ status, params, reload }} />`}
  <//>`;
}

function Page() {
  const [refused, setRefused] = useState(false);
  const { view: name, params } = useRoute();
  const [theme, nextTheme] = useTheme();
  const loaded = useLoaded((signal) => call("status", {}, signal), []);
  useEffect(() => {
    const onRefused = () => setRefused(true);
    addEventListener("graphctx-token-refused", onRefused);
    return () => removeEventListener("graphctx-token-refused", onRefused);
  }, []);
  const status = loaded.value;
  const views = status ? VIEWS.filter((view) => view.needs(status)) : [];
  const view = views.find((one) => one.name === name) ?? views[0];
  useEffect(() => {
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // on a phone
    document.title = view ? `${view.title} · graphctx` : "graphctx";
  }, [view?.name]);
  if (refused) return html`<${TokenForm} onToken=${() => { setRefused(false); loaded.reload(); }} />`;
  if (loaded.error) return html`<main id="content"><${Problem} error=${loaded.error} retry=${loaded.reload} /></main>`;
  if (!status) return html`<main id="content"><${Loading} /></main>`;
  return html`
    <a class="skip" href="#content" onClick=${(event) => {
      event.preventDefault();
      document.getElementById("content").focus();
    }}>Skip to the content</a>
    <header>
      <a class="brand" href=${link("ask")}>graphctx</a>
      <nav aria-label="Views">
        ${views.map((one) => html`
          <a href=${link(one.name)} aria-current=${one === view ? "page" : undefined}>${one.title}</a>`)}
      </nav>
      <span class="project quiet">${status.project_id}</span>
      <button class="plain" onClick=${nextTheme} aria-label=${`Colours: ${theme}`} title=${`Colours: ${theme}`}>◐</button>
    </header>
    <main id="content" tabindex="-1">
      ${view
        ? html`<${View} key=${view.name} ...${{ view, status, params, reload: loaded.reload }} />`
        : html`<${Problem} error=${{ message: status.fault ?? "Nothing is published here yet." }} retry=${loaded.reload} />`}
    </main>`;
}

adoptToken();
render(html`<${Page} />`, document.getElementById("page"));
