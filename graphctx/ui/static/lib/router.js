// The address of a view: #/ask?q=... Its parameters are strings; a list is a repeated parameter.
import { useEffect, useMemo, useState } from "./html.js";

export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path || "ask", params: new URLSearchParams(query) };
}

/** Return the address of a view: link("documents", { uri, start: 20 }). */
export function link(view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

/** Go to a view; `replace` changes the address without a step in the history. */
export function go(view, params = {}, replace = false) {
  const target = link(view, params);
  if (replace) {
    history.replaceState(null, "", target);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = target;
  }
}

export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    changed(); // it may have changed before anybody listened
    return () => removeEventListener("hashchange", changed);
  }, []);
  return useMemo(currentRoute, [hash]);
}
