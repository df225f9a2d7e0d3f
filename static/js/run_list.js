// The run list: `/` goes to the query, X selects the row that has the focus, Escape clears.
// The selection is of this page; what can be done with it stands in the bar below.
import { isOn, toUsual } from "./key_map.js";

const bar = document.getElementById("selection");
const list = document.getElementById("runs-list");
const query = document.querySelector("[data-focus-key]");
const every = document.querySelector("[data-select-all]");

const boxes = () => [...document.querySelectorAll("#runs-list .pick input")];
const chosen = () => boxes().filter((box) => box.checked);

function point(link, address, allowed) {
  if (allowed) {
    link.href = address;
    link.removeAttribute("aria-disabled");
  } else {
    link.removeAttribute("href");
    link.setAttribute("aria-disabled", "true");
  }
}

function show() {
  const picked = chosen();
  const codes = picked.map((box) => box.value);
  bar.hidden = !picked.length;
  every.checked = picked.length > 0 && picked.length === boxes().length;
  every.indeterminate = picked.length > 0 && !every.checked;
  bar.querySelector("[data-count]").textContent = picked.length;
  const compare = bar.querySelector("[data-compare]");
  point(compare, `${compare.dataset.compare}?a=${codes[0]}&b=${codes[1]}`, codes.length === 2);
  const reopen = bar.querySelector("[data-reopen]");
  const stopped = picked.length === 1 && picked[0].closest("tr").dataset.status === "stopped";
  point(reopen, `${reopen.dataset.reopen}${codes[0]}/`, stopped);
  const sent = bar.querySelector("[data-export]");
  sent.href = `${sent.dataset.export}?${codes.map((code) => `run=${code}`).join("&")}`;
}

function clear() {
  for (const box of chosen()) box.checked = false;
  show();
}

document.addEventListener("change", ({ target }) => {
  if (target === every) for (const box of boxes()) box.checked = every.checked;
  if (target === every || target.closest("#runs-list")) show();
});
list.addEventListener("rows:changed", show);
bar.querySelector("[data-clear]").addEventListener("click", clear);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (!isOn() || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const box = document.activeElement?.closest("#runs-list tr")?.querySelector(".pick input");
  const key = toUsual(event.key.toLowerCase());
  if (key === "/") query.focus();
  else if (key === "x" && box) box.click();
  else if (event.key === "Escape" && !bar.hidden) clear();
  else return;
  event.preventDefault();
});
