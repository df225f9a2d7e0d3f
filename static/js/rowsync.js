// The swap styles `rowsync` and `rowfill`: rows of a list come in, change, move and go by
// their id. `rowsync` brings updates, `rowfill` more of what was there before. Known rows are
// morphed, never replaced, so focus and selection survive.
// data-key: place in the list, highest first. data-seq: how new the row is.

// A page that stays open for days does not grow for days.
const ROWS_KEPT = 500;
let api;

// By the id of a list: `home` (the element a row belongs in; null: it goes; undefined: all stays; `fresh` is an
// update), `placed` (a row is there), `precedes` (the order), `remember` and `recall` (updates that came while more rows were on their way).
export const rules = new Map();
const usual = {
  home: (list, row) => (!list.dataset.only || row.dataset.status === list.dataset.only ? list : null),
  precedes: (row, other) => Number(row.dataset.key) > Number(other.dataset.key),
  placed() {},
  remember() {},
  recall: () => [],
};

const busy = (row) => row.contains(document.activeElement);

function place(home, row, precedes) {
  const before = [...home.children].find((other) => other !== row && precedes(row, other)) ?? null;
  if (row.isConnected && home.moveBefore) home.moveBefore(row, before);
  else if (!busy(row)) home.insertBefore(row, before);
}

function leave(row) {
  // A row somebody stands on is greyed until they move on.
  if (busy(row)) row.setAttribute("data-gone", "");
  else row.remove();
}

// Bring one row of a list up to date; returns it when it is on screen.
export function syncRow(list, row, { fresh = false } = {}) {
  const rule = rules.get(list.id) ?? usual;
  const old = document.getElementById(row.id);
  if (old && Number(old.dataset.seq) > Number(row.dataset.seq)) return null;
  const home = "gone" in row.dataset ? null : rule.home(list, row, fresh);
  if (home === undefined) return null;
  if (!home) {
    if (old) leave(old);
    return null;
  }
  if (!old) {
    if (list.dataset.insert === "no") return null;
    row.classList.toggle("fresh", fresh);
    place(home, row, rule.precedes);
    rule.placed(list, row);
    return row;
  }
  const moved = old.parentElement !== home || old.dataset.key !== row.dataset.key || old.dataset.code !== row.dataset.code;
  const fragment = document.createDocumentFragment();
  fragment.append(row);
  api.morph(old, fragment, false);
  if (moved) place(home, old, rule.precedes);
  rule.placed(list, old);
  return old;
}

htmx.registerExtension("rowsync", {
  init: (internal) => { api = internal; },
  handle_swap(style, list, fragment) {
    if (style !== "rowsync" && style !== "rowfill") return false;
    const rule = rules.get(list.id) ?? usual;
    const rows = [...fragment.children];
    const fresh = style === "rowsync";
    if (fresh) rule.remember(rows);
    else rows.push(...rule.recall());
    const changed = rows.map((row) => syncRow(list, row, { fresh })).filter(Boolean);
    if (!rules.has(list.id)) {
      while (list.children.length > ROWS_KEPT) list.lastElementChild.remove();
    }
    list.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
    return changed.length ? changed : true;
  },
});

document.addEventListener("focusout", ({ target }) => {
  const row = target.closest?.("[data-gone]");
  if (row) setTimeout(() => busy(row) || row.remove());
});
