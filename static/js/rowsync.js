// The swap style `rowsync`: rows of a live list come in, change, move and go by their id.
// Known rows are morphed, never replaced, so focus and selection survive.
// data-key: place in the list, highest first. data-seq: how new the row is.

// A page that stays open for days does not grow for days.
const ROWS_KEPT = 500;
let api;

const busy = (row) => row.contains(document.activeElement);

export function place(list, row) {
  const key = Number(row.dataset.key);
  const before = [...list.children].find(
    (other) => other !== row && Number(other.dataset.key) < key,
  );
  if (row.isConnected && list.moveBefore) list.moveBefore(row, before ?? null);
  else list.insertBefore(row, before ?? null);
}

function leave(row) {
  // A row somebody stands on is greyed until they move on.
  if (busy(row)) row.setAttribute("data-gone", "");
  else row.remove();
}

function update(old, row) {
  if (Number(old.dataset.seq) > Number(row.dataset.seq)) return false;
  const moved = old.dataset.key !== row.dataset.key;
  const fragment = document.createDocumentFragment();
  fragment.append(row);
  api.morph(old, fragment, false);
  if (moved && !busy(old)) place(old.parentElement, old);
  return true;
}

htmx.registerExtension("rowsync", {
  init: (internal) => { api = internal; },
  handle_swap(style, list, fragment) {
    if (style !== "rowsync") return false;
    const changed = [];
    const { only, insert } = list.dataset;
    for (const row of [...fragment.children]) {
      const old = document.getElementById(row.id);
      const belongs = !only || row.dataset.status === only;
      if ("gone" in row.dataset || (old && !belongs)) {
        if (old) leave(old);
      } else if (old) {
        if (update(old, row)) changed.push(old);
      } else if (belongs && insert !== "no") {
        row.classList.add("fresh");
        place(list.querySelector("[data-group]") ?? list, row);
        changed.push(row);
      }
    }
    if (!list.querySelector("[data-group]")) {
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
