// Detail panes, fetched over HTTP and kept for a moment, so that the next one is there
// at once. What is kept is dropped as soon as an update about it arrives.

const KEPT_MS = 30_000;
const KEPT_LIMIT = 12;
const panes = new Map();

async function load(url, signal) {
  const headers = { "HX-Request": "true", "HX-Request-Type": "partial" };
  const response = await fetch(url, { signal, headers });
  return {
    ok: response.ok,
    status: response.status,
    signIn: response.headers.get("HX-Redirect"),
    text: await response.text(),
  };
}

// The pane of a review: the same request for everybody who asks at the same time.
export function getPane(code, url) {
  const known = panes.get(code);
  if (known && Date.now() - known.at < KEPT_MS) return known.pane;
  const controller = new AbortController();
  const kept = { at: Date.now(), controller, done: false };
  kept.pane = load(url, controller.signal).finally(() => { kept.done = true; });
  kept.pane.then(({ ok }) => ok || drop(code, kept), () => drop(code, kept));
  panes.set(code, kept);
  if (panes.size > KEPT_LIMIT) forgetPane(panes.keys().next().value);
  return kept.pane;
}

function drop(code, kept) {
  if (panes.get(code) === kept) panes.delete(code);
}

export function forgetPane(code) {
  panes.get(code)?.controller.abort();
  panes.delete(code);
}

export function forgetPanes() {
  for (const code of [...panes.keys()]) forgetPane(code);
}

// Requests that are still on their way for a review nobody wants any more.
export function abandonAllBut(wanted) {
  for (const [code, kept] of [...panes]) if (!kept.done && !wanted.includes(code)) forgetPane(code);
}
