// The queue as this viewer sees it. Rows come from the server the same for everyone;
// which group they stand in, which are filtered out, and the counts are settled here.
import { place } from "./rowsync.js";
import { now } from "./times.js";

let last = { code: undefined, index: 0 };

const queue = () => document.getElementById("queue");
export const links = () =>
  [...document.querySelectorAll("[data-rows] :is(li, tr):not([hidden], [data-gone]) [data-open-row]")];

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

function badge() {
  const count = Number(document.getElementById("nav-queue-count")?.textContent ?? 0);
  const title = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = count ? `(${count}) ${title}` : title;
}

// One row on from this review; a row that has gone leaves its place behind.
export function step(code, direction) {
  const all = links();
  if (!all.length) return null;
  const index = all.findIndex((link) => link.dataset.openRow === code);
  if (index >= 0) last = { code, index };
  const place = last.code === code ? last.index : 0;
  const next = index >= 0 ? index + direction : direction > 0 ? place : place - 1;
  return all[Math.min(Math.max(next, 0), all.length - 1)];
}

function refresh() {
  settle();
  badge();
  document.dispatchEvent(new CustomEvent("queue:changed"));
}

document.addEventListener("rows:changed", settle);
document.addEventListener("htmx:after:swap", refresh);
setInterval(refresh, 5000);
refresh();
