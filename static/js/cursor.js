// The cursor of the queue: which review is selected, and whether it is the one on screen.
// The cursor moves at once, the pane follows. In between the pane shows a review that the
// reader has left: its dock is inert, and nothing can be sent from it.
import { confirmDone, remark } from "./toast.js";
import { abandonAllBut, forgetPane, getPane } from "./panes.js";
import { extent, keepPlace, links, lookAhead, step } from "./queue.js";

const PREFETCH_MS = 50;
// A key that was meant for the review before comes too soon for one that opened by itself.
const JUST_MS = 250;
const KEPT = ["show", "sort", "q", "each"];
let prefetching;
let isRestoring = false; // a step back in the browser's history is on its way
let following; // the review that opens by itself after a ruling
let opened = -Infinity;

const detail = () => document.querySelector("#detail[data-code]");
const shown = () => detail()?.dataset.code;
// Undefined while the browser goes back or forward: whatever arrives is selected then.
let selected = shown();

export const isBehind = () => shown() !== undefined && selected !== shown();
export const sayLoading = () => remark("Still loading this review. Nothing was sent.", 2500);

export const isJustOpened = () => performance.now() - opened < JUST_MS;
export const sayJustOpened = () => remark("The next review has only just opened. Nothing was sent.", 2500);

function neighbours() {
  return [step(selected, 1), step(selected, -1)].filter((link) => link && link.dataset.openRow !== selected);
}

function prefetch() {
  clearTimeout(prefetching);
  if (selected === undefined || isBehind()) return;
  prefetching = setTimeout(() => {
    for (const link of neighbours()) getPane(link.dataset.openRow, link.href).catch(() => {});
  }, PREFETCH_MS);
}

export function mark() {
  const pane = detail();
  if (!pane) return;
  const all = links();
  const index = all.findIndex((link) => link.dataset.openRow === selected);
  for (const link of document.querySelectorAll("#queue [data-open-row][aria-current]")) {
    if (link !== all[index]) link.removeAttribute("aria-current");
  }
  if (index >= 0) {
    all[index].setAttribute("aria-current", "true");
    keepPlace(all[index]);
  }
  // One stop for the Tab key: the row that the cursor stands on.
  const stop = all[Math.max(index, 0)];
  for (const link of all) if (link.tabIndex !== (link === stop ? 0 : -1)) link.tabIndex = link === stop ? 0 : -1;
  const behind = isBehind();
  if (behind) pane.setAttribute("aria-busy", "true");
  else pane.removeAttribute("aria-busy");
  pane.querySelector("#dock").inert = behind;
  const { total, place } = extent(index);
  pane.querySelector("[data-place]").textContent = index < 0 ? "" : `${place} of ${total}`;
  prefetch();
}

// Put the cursor on a row and show its review as soon as it is there.
export async function openRow(link) {
  const code = link.dataset.openRow;
  if (code !== selected) document.dispatchEvent(new Event("cursor:moved"));
  selected = code;
  mark();
  abandonAllBut([code]);
  if (code === shown()) {
    document.body.dataset.open = "detail"; // on a phone the list is in front of it
    return;
  }
  const pane = await loadSelected(code, link.href);
  if (code !== selected || code === shown()) return; // the cursor has moved on
  if (pane.signIn) location.href = pane.signIn;
  else if (pane.ok) await show(pane.text, link.href);
  else remark("This review could not be loaded. Try again.");
}

async function loadSelected(code, url) {
  try {
    return await getPane(code, url);
  } catch (error) {
    // Given up because it has changed meanwhile, yet still wanted.
    const again = error.name === "AbortError" && code === selected;
    return again ? loadSelected(code, url) : { ok: false };
  }
}

// A review's address within the list on screen: its tab, order and query stay.
function addressOf(url) {
  const { pathname } = new URL(url, location.href);
  const kept = [...new URLSearchParams(location.search)].filter(([name]) => KEPT.includes(name));
  return kept.length ? `${pathname}?${new URLSearchParams(kept)}` : pathname;
}

async function show(text, url) {
  document.body.dataset.open = "detail";
  if (following === selected) opened = performance.now();
  following = undefined;
  await htmx.swap({ sourceElement: document.body, target: "#detail", swap: "outerHTML", text, push: addressOf(url) });
}

// What the server answers about a review that is no longer selected is told, not shown.
function tell(text) {
  const pane = new DOMParser().parseFromString(text, "text/html");
  const said = pane.querySelector("#alert p, .field-error") ?? pane.querySelector("#closing p");
  if (said) remark(`${said.textContent.trim()} (${pane.querySelector("h1").textContent.trim()})`);
}

document.addEventListener("htmx:config:request", (event) => {
  const { request, sourceElement } = event.detail.ctx;
  if (sourceElement.id === "queue-list") {
    request.body.set("around", selected ?? "");
    const unfolded = [...document.querySelectorAll("#queue [data-unfolded]")].map((fold) => fold.dataset.alike);
    if (unfolded.length) request.body.set("unfolded", unfolded.join());
  }
  if (request.method !== "POST" || !sourceElement.closest("#detail")) return;
  forgetPane(shown());
  if (!isBehind()) return;
  event.preventDefault();
  sayLoading();
});

document.addEventListener("htmx:after:request", (event) => {
  const { ctx } = event.detail;
  if (ctx.target?.id !== "detail" || selected === undefined) return;
  const [, code] = ctx.text.match(/ id="detail" data-code="([^"]+)"/) ?? [];
  if (code === selected) {
    if (!ctx.target.isConnected) ctx.target = detail(); // left, and come back to
  } else if (code) {
    event.preventDefault();
    if (ctx.request.method === "POST") tell(ctx.text);
  }
});

document.addEventListener("htmx:before:history:restore", () => {
  selected = undefined;
  isRestoring = true;
  abandonAllBut([]);
  mark();
});

// Nothing has arrived: what is shown stays selected, and the address is its own again.
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  const { headers, signal } = ctx.request;
  if (!headers["HX-History-Restore-Request"] || signal.aborted || ctx.response?.status < 400) return;
  isRestoring = false;
  selected ??= shown();
  if (!detail() || isBehind()) return; // the cursor has moved on
  history.replaceState(history.state, "", addressOf(detail().getAttribute("hx-get")));
  mark();
  remark("That review could not be loaded. Try again.");
});

document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.request?.headers["HX-History-Restore-Request"]) isRestoring = false;
  // What the socket brings meanwhile says nothing about the review that is on its way.
  if (!isRestoring) selected ??= shown();
  mark();
  const posted = ctx.request?.method === "POST" ? ctx.request.action : "";
  if (posted.endsWith("/take-back/") && !document.getElementById("alert")) confirmDone("Taken back. The review is open.");
  // The button that was pressed is disabled meanwhile, and has lost the focus.
  if (posted.endsWith("/rule/")) (document.querySelector("dialog[open] [role=alert]") ?? document.querySelector("#alert, .dock > .field-error") ?? document.querySelector("#outcome"))?.focus();
});

document.addEventListener("queue:changed", mark);

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#queue [data-open-row]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  openRow(link);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-next]")) return;
  const link = step(selected, 1);
  if (!link) return;
  event.preventDefault();
  openRow(link);
});

// One row on or back, from the cursor or, in a list without one, from the focus.
export function move(direction) {
  const link = step(selected ?? document.activeElement?.dataset?.openRow, direction);
  if (!link) return false;
  link.scrollIntoView({ block: "nearest" });
  link.focus({ preventScroll: true });
  if (link.closest("#queue")) {
    openRow(link);
    lookAhead(selected);
  }
  return true;
}

// The review after the one that was ruled on, else the one before it.
export function openNext() {
  const link = [1, -1].map((direction) => step(selected, direction)).find((each) => each && each.dataset.openRow !== selected);
  if (!link) return false;
  link.scrollIntoView({ block: "nearest" });
  following = link.dataset.openRow;
  openRow(link);
  lookAhead(selected);
  return true;
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-move]");
  if (button) move(Number(button.dataset.move));
});

// With scrollIntoView the first Tab would begin here, behind the links that lead past the list.
const list = document.querySelector("#queue:has([aria-current])");
const bottom = (part) => part.getBoundingClientRect().bottom;
if (list) list.scrollTop += Math.max(0, bottom(list.querySelector("[aria-current]")) - bottom(list));
mark();
