// Components, hooks and templates of every view: html`<p>${text}</p>` escapes what it is given.
export * from "../vendor/preact.js";
