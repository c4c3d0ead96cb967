// A spot of a colour; what it says is always written beside it.
import { html, useLayoutEffect, useRef } from "../lib/html.js";
import { PLAIN } from "../lib/tones.js";

export function Chip({ tone = PLAIN }) {
  const spot = useRef();
  useLayoutEffect(() => spot.current.style.setProperty("--tone", tone), [tone]);
  return html`<span class="chip" aria-hidden="true" ref=${spot}></span>`;
}
