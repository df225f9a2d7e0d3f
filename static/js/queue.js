// The queue as this viewer sees it. Rows and counts come from the server the same for
// everyone; the filter, the order (`reviews/queue/order.py` has the same), and which rows belong
// to the part that is listed are settled here.
import { rules, syncRow } from "./rowsync.js";

const GROUPS = ["first", "waiting", "claimed"];
const UPDATES_KEPT = 300;
const AHEAD = 20;
const COUNT_MS = 500;
const SPEAK_MS = 30_000;

const updates = new Map();
let cursor = { code: undefined, place: undefined };
let counting;
let speaking;

const queue = () => document.getElementById("queue");
const edge = (side) => document.getElementById(`queue-${side}`);
export const links = () =>
  [...document.querySelectorAll("[data-rows] :is(li, tr):not([data-gone]) [data-open-row]")];

function placeOf({ id, dataset: { key, first, assignee } }) {
  const others = assignee && assignee !== queue().dataset.viewer;
  return { group: others ? 2 : first === undefined ? 1 : 0, key: Number(key), code: id.slice("review-".length) };
}

function edgePlace(side) {
  const text = edge(side)?.dataset.edge;
  if (!text) return null;
  const [group, key, code] = text.split(".");
  return { group: Number(group), key: Number(key), code };
}

const compare = (a, b) =>
  a.group - b.group || a.key - b.key || (a.code < b.code ? -1 : Number(a.code > b.code));

rules.set("queue", {
  home(list, row) {
    const { show, viewer } = list.dataset;
    const { assignee } = row.dataset;
    if (show !== "all" && assignee !== (show === "mine" ? viewer : "")) return null;
    const place = placeOf(row);
    const [first, last] = [edgePlace("before"), edgePlace("after")];
    if ((first && compare(place, first) < 0) || (last && compare(place, last) > 0)) return null;
    return list.querySelector(`[data-group="${GROUPS[place.group]}"]`);
  },
  precedes: (row, other) => compare(placeOf(row), placeOf(other)) < 0,
  // An update that overtakes rows on their way, or is about rows not listed yet, counts still.
  remember(rows) {
    for (const row of rows) {
      updates.delete(row.id);
      updates.set(row.id, row.cloneNode(true));
      if (updates.size > UPDATES_KEPT) updates.delete(updates.keys().next().value);
    }
  },
  recall: () => [...updates.values()].map((row) => row.cloneNode(true)),
});

function groupCounts(counts, show, viewer) {
  const [nobody, mine] = [counts[""] ?? [0, 0], counts[viewer] ?? [0, 0]];
  const take = (column) => (show === "mine" ? 0 : nobody[column]) + (show === "unclaimed" ? 0 : mine[column]);
  const others = Object.entries(counts).filter(([code]) => code && code !== viewer);
  const claimed = others.reduce((sum, [, [first, rest]]) => sum + first + rest, 0);
  return { first: take(0), waiting: take(1), claimed: show === "all" ? claimed : 0 };
}

const sum = (groups) => groups.first + groups.waiting + groups.claimed;

// How many this list has in all, and how many of them stand before the first row.
export function extent() {
  const { show, viewer } = queue().dataset;
  const counts = JSON.parse(document.getElementById("queue-counts").dataset.counts);
  return { total: sum(groupCounts(counts, show, viewer)), before: Number(edge("before")?.dataset.beyond ?? 0) };
}

function showCounts() {
  const list = queue();
  if (!list) return;
  const { show, viewer } = list.dataset;
  const counts = JSON.parse(document.getElementById("queue-counts").dataset.counts);
  const numbers = groupCounts(counts, show, viewer);
  for (const name of ["all", "mine", "unclaimed"]) numbers[name] = sum(groupCounts(counts, name, viewer));
  for (const box of document.querySelectorAll("[data-count]")) {
    const text = String(numbers[box.dataset.count]);
    if (box.textContent !== text) box.textContent = text;
  }
  const { total, before } = extent();
  const more = edge("after");
  if (more) more.textContent = `${Math.max(1, total - before - links().length)} more`;
  speak(`${numbers.all} waiting`);
}

// A screen reader hears how many wait, but not each one that comes or goes.
function speak(text) {
  const box = document.getElementById("queue-announcement");
  if (box.textContent === text || speaking) return;
  speaking = setTimeout(() => {
    speaking = undefined;
    box.textContent = text;
  }, SPEAK_MS);
}

function badge() {
  const count = Number(document.getElementById("nav-queue-count")?.textContent ?? 0);
  const title = document.title.replace(/^\(\d+\+?\) /, "");
  document.title = count ? `(${count}) ${title}` : title;
}

// Where the cursor stands: a row that goes leaves its place behind.
export function keepPlace(link) {
  cursor = { code: link.dataset.openRow, place: placeOf(link.closest("li")) };
}

// One row on from this review.
export function step(code, direction) {
  const all = links();
  const index = all.findIndex((link) => link.dataset.openRow === code);
  if (index >= 0) return all[Math.min(Math.max(index + direction, 0), all.length - 1)];
  const { place } = cursor.code === code ? cursor : {};
  if (!place) return all[0];
  const beyond = (link) => direction * compare(placeOf(link.closest("li")), place) > 0;
  return direction > 0 ? all.find(beyond) ?? all.at(-1) : all.findLast(beyond) ?? all[0];
}

// Near an edge of the listed part, the next one is fetched.
export function lookAhead(code) {
  const all = links();
  const index = all.findIndex((link) => link.dataset.openRow === code);
  for (const [side, left] of [["before", index], ["after", all.length - 1 - index]]) {
    if (index >= 0 && left < AHEAD && edge(side)) htmx.trigger(edge(side), "more");
  }
}

// What happens before the listed part moves its rows up or down.
function countBefore() {
  clearTimeout(counting);
  if (!edge("before")) return;
  counting = setTimeout(() => {
    const above = edge("before");
    if (above) htmx.ajax("GET", `${above.getAttribute("href")}&count=1`, { source: above, swap: "none" });
  }, COUNT_MS);
}

// A list that was fetched anew knows all that was told up to then, and more: what closed
// meanwhile was told to nobody.
function recallNewer() {
  const { seq } = document.getElementById("queue-list").dataset;
  for (const [id, row] of updates) if (Number(row.dataset.seq) <= Number(seq)) updates.delete(id);
  for (const row of rules.get("queue").recall()) syncRow(queue(), row);
}

function refresh() {
  showCounts();
  badge();
  document.dispatchEvent(new CustomEvent("queue:changed"));
}

document.addEventListener("rows:changed", refresh);
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.target?.id === "queue-list") recallNewer();
  refresh();
});
document.addEventListener("htmx:ws:after:message:incoming", countBefore);
refresh();
