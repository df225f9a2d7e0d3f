// After a ruling the next review opens, for people who want that. What became of the one
// before is said at the edge of the screen, where a screen reader hears it, with a link back.
import { openNext } from "./cursor.js";
import { confirmDone } from "./toast.js";

const READING_MS = 8000;

document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (!("opensNext" in document.body.dataset)) return;
  if (ctx.request?.method !== "POST" || !ctx.request.action.endsWith("/rule/")) return;
  const pane = document.querySelector("#detail[data-code]");
  const held = pane?.querySelector("[data-held]");
  const said = pane?.querySelector("#closing b") ?? held?.querySelector("b");
  if (!said || pane.querySelector("#alert")) return;
  const text = `${said.textContent.trim()}: ${pane.querySelector("h1").textContent.trim()}`;
  const back = held ? [held.dataset.takeBack, "Take back"] : [pane.getAttribute("hx-get"), "Look"];
  if (openNext()) confirmDone(text, READING_MS, back);
});
