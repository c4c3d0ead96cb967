// Calls of the server's JSON interface. The token comes with the address (#token=...) or from the form, and lives as
// long as the tab.
import { useEffect, useState } from "./html.js";

const KEY = "graphctx-token";

export class ApiError extends Error {
  /** An error of the server: its message, `code` of the taxonomy, HTTP `status` and `details`. */
  constructor(message, code, status, details = {}) {
    super(message);
    Object.assign(this, { code, status, details });
  }
}

/** Take the token out of the address, so that neither history nor a copied link holds it. */
export function adoptToken() {
  const found = location.hash.match(/^#token=([^&]+)/);
  if (!found) return;
  sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname);
}

export const setToken = (token) => sessionStorage.setItem(KEY, token);

function headers(more = {}) {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}`, ...more } : more;
}

/** Send a request below /api and return the response; raise ApiError unless it succeeded. */
export async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(`api/${path}`, { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer. Is it still running?", "BACKEND_UNAVAILABLE", 0);
  }
  if (response.ok) return response;
  const text = await response.text();
  let found;
  try {
    found = JSON.parse(text).error;
  } catch {
    found = undefined;
  }
  if (response.status === 401) dispatchEvent(new Event("graphctx-token-refused"));
  throw new ApiError(found?.message ?? (text || response.statusText), found?.code, response.status, found?.details);
}

/** Call an operation: call("status"), call("documents", { offset: 20 }). */
export async function call(name, input = {}, signal = undefined) {
  const body = JSON.stringify(input);
  const options = { method: "POST", body, headers: { "Content-Type": "application/json" }, signal };
  return (await request(name, options)).json();
}

/** Call a tool of the server: tool("kb.retrieve_evidence", { question }). */
export const tool = (name, input, signal) => call(`tools/${name}`, input, signal);

/**
 * Load something when a component appears or `inputs` change; the earlier request is cancelled.
 * Returns { value, error, loading, reload }.
 */
export function useLoaded(load, inputs) {
  const [state, setState] = useState({ loading: true });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ ...before, error: undefined, loading: true }));
    load(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value, loading: false }),
      (error) => controller.signal.aborted || setState({ error, loading: false }),
    );
    return () => controller.abort();
  }, [...inputs, round]);
  return { ...state, reload: () => setRound((count) => count + 1) };
}
