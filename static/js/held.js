// A ruling is held for a few seconds, in which it may be taken back. This page sends it: when
// the time is over, or when the page is closed. Nobody else does (`reviews/rulings/held.py`).
import { confirmDone, remark } from "./toast.js";

const waiting = new Map();

// `codes` are the reviews of a ruling on several.
function build(codes = []) {
  const form = new FormData();
  form.append("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "");
  for (const code of codes) form.append("code", code);
  return form;
}

function refresh({ code, codes }) {
  const pane = document.getElementById("detail");
  if (pane && (codes ?? [code]).includes(pane.dataset.code)) htmx.trigger(pane, "update");
}

function forget(key) {
  clearTimeout(waiting.get(key)?.timer);
  waiting.delete(key);
}

async function post(url, codes) {
  try {
    const answer = await fetch(url, { method: "POST", body: build(codes) });
    return answer.ok && !codes ? "" : await answer.text();
  } catch {
    return "The server did not answer. The review is still open.";
  }
}

// The note went with the ruling: its field is free again, unless more was typed meanwhile.
function freeNote({ code, text }) {
  const id = `note-${code}`;
  const now = document.getElementById(id)?.value ?? sessionStorage.getItem(`draft:${id}`);
  if (text && now === text) document.dispatchEvent(new CustomEvent("sent", { detail: { fields: [id] } }));
}

async function send(key) {
  const item = waiting.get(key);
  forget(key);
  document.getElementById("holding-all")?.remove();
  const problem = await post(item.url, item.codes);
  if (problem) remark(`Not sent. ${problem}`);
  else freeNote(item);
  refresh(item);
}

async function takeBack(key) {
  const item = waiting.get(key);
  forget(key);
  document.getElementById("selection-dialog")?.close();
  const problem = await post(item.takeBack, item.codes);
  if (problem) remark(problem);
  else confirmDone("Taken back. The review is open.");
  refresh(item);
}

// Rulings on several reviews are one: no pane sends one of them by itself.
function lookAtAll() {
  const box = document.querySelector("[data-held-all]");
  if (!box || waiting.has(box.dataset.heldAll)) return;
  const { heldAll: key, left, send: url, takeBack } = box.dataset;
  const codes = key.split(" ");
  for (const [each, item] of waiting) if (codes.includes(item.code)) forget(each);
  waiting.set(key, { codes, url, takeBack, timer: setTimeout(() => send(key), Number(left)) });
}

// What the pane shows is what is held of this review; of others, what was known before stays.
function look() {
  const pane = document.getElementById("detail");
  const code = pane?.dataset.code;
  const box = pane?.querySelector("[data-held]");
  for (const [key, item] of waiting) {
    if (item.code !== code || key === box?.dataset.held) continue;
    forget(key);
    const other = pane.querySelector("#closing b")?.textContent.trim();
    if (other) remark(`Your ruling was not sent. ${other}.`);
  }
  if (!box || waiting.has(box.dataset.held)) return;
  if ([...waiting.values()].some((item) => item.codes?.includes(code))) return;
  const { held: key, left, send: url, takeBack } = box.dataset;
  const text = document.getElementById(`note-${code}`)?.value;
  waiting.set(key, { code, text, url, takeBack, timer: setTimeout(() => send(key), Number(left)) });
}

// From the line at the edge of the screen, when the next review is open already.
document.addEventListener("click", (event) => {
  const key = event.target.closest("[data-take-back-all]")?.closest("[data-held-all]").dataset.heldAll;
  if (waiting.has(key)) {
    takeBack(key);
    return;
  }
  const link = event.target.closest("a[href]");
  const found = link && [...waiting].find(([, item]) => item.takeBack === link.getAttribute("href"));
  if (!found) return;
  event.preventDefault();
  takeBack(found[0]);
});

// The dialog is closed before the time is over: the way back is at the edge of the screen.
document.addEventListener("close", ({ target }) => {
  const box = target.querySelector?.("[data-held-all]");
  if (!box || !waiting.has(box.dataset.heldAll)) return;
  remark("The rulings are sent in a moment.", Number(box.dataset.left), [box.dataset.takeBack, "Take back"]);
}, { capture: true });

addEventListener("pagehide", () => {
  for (const [key, { url, codes }] of waiting) {
    navigator.sendBeacon(url, build(codes));
    forget(key);
  }
});
document.addEventListener("htmx:after:swap", () => {
  lookAtAll();
  look();
});
look();
