// The queue as this viewer sees it. Rows come from the server the same for everyone;
// which group they stand in, which are filtered out, and the counts are settled here.
import { place } from "./rowsync.js";
import { now } from "./times.js";

let lastIndex = 0;

const queue = () => document.getElementById("queue");
const detail = () => document.querySelector("#detail[data-code]");
export const links = () =>
  [...document.querySelectorAll("[data-rows] :is(li, tr):not([hidden], [data-gone]) [data-open-row]")];
export const current = () => links().findIndex((link) => link.getAttribute("aria-current"));

function home({ due, assignee }, viewer) {
  if (Number(due) <= now()) return "late";
  return assignee && assignee !== viewer ? "claimed" : "waiting";
}

function settle() {
  const list = queue();
  if (!list) return;
  const { show, viewer } = list.dataset;
  for (const row of list.querySelectorAll("li[data-key]")) {
    const { assignee } = row.dataset;
    row.hidden = (show === "mine" && assignee !== viewer) || (show === "unclaimed" && assignee !== "");
    const group = list.querySelector(`[data-group="${home(row.dataset, viewer)}"]`);
    if (row.parentElement !== group) place(group, row);
  }
  for (const group of list.querySelectorAll("[data-group]")) {
    const count = group.parentElement.querySelector(".n");
    count.textContent = group.querySelectorAll("li:not([hidden], [data-gone])").length;
  }
  const mine = document.querySelector("[data-mine-count]");
  if (mine) mine.textContent = JSON.parse(document.getElementById("queue-filters").dataset.mine)[viewer] ?? 0;
}

function select() {
  const code = detail()?.dataset.code;
  if (code === undefined) return;
  for (const link of document.querySelectorAll("#queue [data-open-row]")) {
    if (link.dataset.openRow === code) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const index = current();
  if (index >= 0) lastIndex = index;
  const spot = document.querySelector("[data-place]");
  if (spot) spot.textContent = index < 0 ? "" : `${index + 1} of ${links().length}`;
}

function badge() {
  const count = Number(document.getElementById("nav-queue-count")?.textContent ?? 0);
  const title = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = count ? `(${count}) ${title}` : title;
}

// One row on from where the reader stands; a row that has gone leaves its place behind.
export function step(direction) {
  const all = links();
  if (!all.length) return null;
  const index = current();
  const next = index >= 0 ? index + direction : direction > 0 ? lastIndex : lastIndex - 1;
  return all[Math.min(Math.max(next, 0), all.length - 1)];
}

function refresh() {
  settle();
  select();
  badge();
}

document.addEventListener("rows:changed", settle);
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx?.sourceElement?.matches?.("#queue [data-open-row]")) document.body.dataset.open = "detail";
  refresh();
});
setInterval(refresh, 5000);
refresh();
