// The queue as this viewer sees it. Rows and counts come from the server the same for
// everyone; the filter, the order (`reviews/queue/order.py` has the same), and which rows belong
// to the part that is listed are settled here.
import { rules, syncRow } from "./rowsync.js";
import { now } from "./times.js";

const SEVERITIES = ["critical", "high", "medium", "low"];
const SHOWS = ["all", "mine", "unclaimed", "overdue", "snoozed"];
const UPDATES_KEPT = 300;
const AHEAD = 20;
const COUNT_MS = 500;
const SPEAK_MS = 30_000;
const FETCH_MS = 1000;

const updates = new Map();
let cursor = { code: undefined, place: undefined };
let counting;
let speaking;
let fetching;
let lateness;
let entered;

const queue = () => document.getElementById("queue");
const isFiltered = () => "filtered" in queue().dataset;
const edge = (side) => document.getElementById(`queue-${side}`);
// What the server tells everybody is of this list; any other fetches what is folded.
const isUsual = () => {
  const { show, sort, each } = queue().dataset;
  return !isFiltered() && show === "all" && sort === "urgency" && each === undefined;
};
// An open fold has no place of its own: each of its reviews has.
export const links = () =>
  [...document.querySelectorAll("[data-rows] :is(li, tr) [data-open-row]")]
    .filter((link) => !link.closest("[data-gone]") && !link.parentElement.matches("[data-unfolded]"));

function placeOf({ id, dataset: { urgency, answer, key, code } }) {
  const { sort } = queue().dataset;
  return {
    urgency: sort === "urgency" ? Number(urgency) : 0,
    time: Number(sort === "age" ? key : answer),
    code: code ?? id.slice("review-".length),
  };
}

function edgePlace(side) {
  const text = edge(side)?.dataset.edge;
  if (!text) return null;
  const [urgency, time, code] = text.split(".");
  return { urgency: Number(urgency), time: Number(time), code };
}

const compare = (a, b) =>
  a.urgency - b.urgency || a.time - b.time || (a.code < b.code ? -1 : Number(a.code > b.code));

rules.set("queue", {
  home(list, row, fresh) {
    const { show, sort, viewer } = list.dataset;
    const { assignee, answer, severity } = row.dataset;
    if (fresh && "fold" in row.dataset && (!isUsual() || document.getElementById(row.id)?.matches("[data-unfolded]"))) {
      fetchSoon();
      return undefined;
    }
    // What was set aside is told as gone: its own list fetches itself.
    if (show === "snoozed" && fresh) return null;
    if (show === "snoozed" ? false : show === "overdue" ? Number(answer) > now() * 1000 : show !== "all" && assignee !== (show === "mine" ? viewer : "")) return null;
    // What a query lets in, the server alone can tell.
    if (fresh && isFiltered() && !document.getElementById(row.id)) return null;
    const place = placeOf(row);
    const [first, last] = [edgePlace("before"), edgePlace("after")];
    if ((first && compare(place, first) < 0) || (last && compare(place, last) > 0)) return null;
    return list.querySelector(`[data-group="${sort === "urgency" ? severity : "waiting"}"]`);
  },
  // What is folded now stands no longer by itself.
  placed(list, row) {
    if (!("fold" in row.dataset)) return;
    for (const other of list.querySelectorAll(`[data-group] > [data-alike="${row.dataset.alike}"]:not([data-fold])`)) {
      if (other.contains(document.activeElement)) row.querySelector("[data-open-row]").focus({ preventScroll: true });
      other.remove();
    }
  },
  precedes: (row, other) => compare(placeOf(row), placeOf(other)) < 0,
  // An update that overtakes rows on their way, or is about rows not listed yet, counts still.
  remember(rows) {
    if (isFiltered() || queue().dataset.show === "snoozed") fetchSoon();
    for (const row of rows) {
      updates.delete(row.id);
      updates.set(row.id, row.cloneNode(true));
      if (updates.size > UPDATES_KEPT) updates.delete(updates.keys().next().value);
    }
  },
  recall: () => isFiltered() || queue().dataset.show === "snoozed" ? [] : [...updates.values()].filter((row) => isUsual() || !("fold" in row.dataset)).map((row) => row.cloneNode(true)),
});

// A list that a query narrows, or whose clock has moved on, fetches itself.
function fetchSoon() {
  fetching ??= setTimeout(() => {
    fetching = undefined;
    const list = document.getElementById("queue-list");
    if (list) htmx.trigger(list, "update");
  }, FETCH_MS);
}

// Of everything that is open, or of what the query lets in.
function tally() {
  const box = document.getElementById(isFiltered() ? "queue-list" : "queue-counts");
  return JSON.parse(box.dataset.counts);
}

const add = (rows) => SEVERITIES.map((_, rank) => rows.reduce((sum, row) => sum + row[rank], 0));
const sum = (row) => row.reduce((total, count) => total + count, 0);

// By severity, the most severe first.
function severityCounts({ counts, late, snoozed }, show, viewer) {
  if (show === "overdue") return late;
  if (show === "snoozed") return snoozed;
  if (show === "all") return add(Object.values(counts));
  return counts[show === "mine" ? viewer : ""] ?? SEVERITIES.map(() => 0);
}

// How many reviews a row stands for, and how many an open fold does not list behind its last one.
function countOf(link) {
  const row = link.closest("li");
  const rest = row.nextElementSibling?.dataset.rest;
  return Number(row.dataset.like ?? 1) + Number(rest ?? 0);
}

const count = (rows) => rows.reduce((total, link) => total + countOf(link), 0);

// How many this list has in all, how many of them stand before the first row, and which one
// of all the row at `index` is.
export function extent(index = 0) {
  const { show, viewer } = queue().dataset;
  const before = Number(edge("before")?.dataset.beyond ?? 0);
  return { total: sum(severityCounts(tally(), show, viewer)), before, place: before + count(links().slice(0, index)) + 1 };
}

function showCounts() {
  const list = queue();
  if (!list) return;
  const { show, viewer } = list.dataset;
  const counted = tally();
  const open = JSON.parse(document.getElementById("queue-counts").dataset.counts);
  const shown = severityCounts(counted, show, viewer);
  const numbers = Object.fromEntries(SEVERITIES.map((name, rank) => [name, shown[rank]]));
  for (const name of SHOWS) numbers[name] = sum(severityCounts(counted, name, viewer));
  numbers.waiting = numbers[show];
  numbers.total = sum(severityCounts(open, "all", viewer));
  for (const box of document.querySelectorAll("[data-count]")) {
    const text = String(numbers[box.dataset.count]);
    if (box.textContent !== text) box.textContent = text;
    box.toggleAttribute("data-none", text === "0");
  }
  for (const row of list.querySelectorAll("li[data-assignee]")) {
    const { assignee } = row.dataset;
    row.classList.toggle("taken", assignee !== "" && assignee !== viewer);
  }
  const { total, before } = extent();
  const more = edge("after");
  if (more) more.textContent = `${Math.max(1, total - before - count(links()))} more`;
  speak(`${numbers.total} waiting`);
  watchLateness(counted.nextLate);
}

// Nothing is told when a review becomes late by the clock alone: then the counts are read anew.
function watchLateness(moment) {
  clearTimeout(lateness);
  if (!moment) return;
  lateness = setTimeout(fetchSoon, Math.min(Math.max(moment - now(), 0), 2 ** 31 - 1));
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

// The counts that came with the list are newer than those told, where the clock alone moved.
function takeCounts() {
  const { counts, seq } = document.getElementById("queue-list").dataset;
  const { since } = document.getElementById("live-cursor").dataset;
  if (!isFiltered() && Number(seq) >= Number(since)) {
    document.getElementById("queue-counts").dataset.counts = counts;
  }
}

function refresh() {
  showCounts();
  badge();
  document.dispatchEvent(new CustomEvent("queue:changed"));
}

document.addEventListener("rows:changed", refresh);
// The pause after the last letter must not ask again what was entered: its answer has the
// address of the list, and a review may be open by then.
document.addEventListener("htmx:config:request", (event) => {
  const { request, sourceElement, sourceEvent } = event.detail.ctx;
  if (sourceEvent?.type === "click") entered = undefined; // another list
  if (!sourceElement.matches?.(".team .ask")) return;
  const line = request.body.get("q");
  if (sourceEvent?.type === "submit") entered = line;
  else if (line === entered) event.preventDefault();
  else entered = undefined;
});
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const asked = ctx.sourceElement?.matches?.(".team .ask");
  if (asked || ctx.target?.id === "queue-list") {
    recallNewer();
    takeCounts();
  }
  refresh();
  // Entered, not typed: the keys are for the list again.
  if (asked && ctx.sourceEvent?.type === "submit") links()[0]?.focus({ preventScroll: true });
});
document.addEventListener("htmx:ws:after:message:incoming", countBefore);
refresh();
