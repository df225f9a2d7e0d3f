// Several reviews selected for one decision: `x` ticks the row of the cursor, Shift+J and
// Shift+K extend, Escape clears. The boxes themselves go with the form of the bar. While
// anything is selected, the keys that rule are those of the bar.
import { move } from "./cursor.js";
import { isOn, toUsual } from "./key_map.js";
import { remark } from "./toast.js";

const RULING_KEYS = "abders";
const TYPED = "input:not([type=checkbox]), textarea, select, [contenteditable]";
// The list of runs has a bar of its own by this name.
const form = document.getElementById("queue") && document.getElementById("selection");
const dialog = document.getElementById("selection-dialog");
const picked = new Set();
const boxes = () => [...document.querySelectorAll("#queue .tick-box")];
const boxOf = (row) => row?.querySelector(":scope > .tick-box");
const currentRow = () => (document.querySelector("#queue [aria-current]") ?? document.activeElement)?.closest?.("#queue li");

// A row that stands for several stands for those below it, too.
function pick(box, on) {
  const row = box.closest("li");
  for (const each of [box, ...row.querySelectorAll(".kids .tick-box")]) {
    if (on) picked.add(each.value);
    else picked.delete(each.value);
  }
  const fold = row.parentElement.closest("[data-fold]");
  if (fold && !on) picked.delete(boxOf(fold).value);
}

function show() {
  const all = boxes();
  const here = new Set(all.map((box) => box.value));
  for (const value of [...picked]) if (!here.has(value)) picked.delete(value);
  for (const box of all) {
    box.checked = picked.has(box.value);
    box.closest("li").classList.toggle("sel", box.checked);
  }
  const chosen = all.filter((box) => box.checked);
  const counted = chosen.filter((box) => !boxOf(box.closest(".kids")?.closest("[data-fold]"))?.checked);
  const count = counted.reduce((sum, box) => sum + Number(box.closest("li").dataset.like ?? 1), 0);
  const kinds = [...new Set(chosen.map((box) => box.dataset.kind))];
  form.hidden = !count;
  document.getElementById("queue").classList.toggle("picking", count > 0);
  for (const box of form.querySelectorAll("[data-picked]")) box.textContent = count;
  form.querySelector("[data-mixed]").hidden = kinds.length < 2;
  for (const button of form.querySelectorAll("[data-for]")) {
    button.hidden = kinds.length !== 1 || !button.dataset.for.split(" ").includes(kinds[0]);
  }
}

function clear() {
  picked.clear();
  show();
}

function ruleOnSelected(key) {
  const button = form.querySelector(`[data-hotkey="${key}"]:not([hidden])`);
  if (button) button.click();
  else remark("This key is no choice for what is selected. Escape clears the selection.");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.target.closest(TYPED) || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && picked.size) {
    clear();
    return;
  }
  if (!isOn() || event.key.length > 1) return;
  const key = toUsual(event.key.toLowerCase());
  const row = currentRow();
  const extends_ = event.shiftKey && (key === "j" || key === "k");
  const rules = picked.size > 0 && key && RULING_KEYS.includes(key);
  if (!extends_ && !rules && !(key === "x" && row)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (rules) {
    if (!event.repeat) ruleOnSelected(key);
  } else if (key === "x") {
    if (!boxOf(row)) remark("A critical review is ruled by itself.");
    else if (!event.repeat) pick(boxOf(row), !boxOf(row).checked);
  } else {
    if (boxOf(row)) pick(boxOf(row), true);
    move(key === "j" ? 1 : -1);
    if (boxOf(currentRow())) pick(boxOf(currentRow()), true);
  }
  show();
}

if (form) {
  document.addEventListener("keydown", onKey, { capture: true });
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("#queue .tick-box")) return;
    pick(target, target.checked);
    show();
  });
  form.querySelector("[data-clear]").addEventListener("click", clear);
  document.addEventListener("queue:changed", show);
  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (ctx.target?.id !== "selection-body") return;
    if (!dialog.open) dialog.showModal();
    (dialog.querySelector("[role=alert]") ?? dialog.querySelector("[data-ruled] h2") ?? dialog.querySelector("[autofocus]"))?.focus();
    if (dialog.querySelector("[data-ruled]")) clear();
  });
  // A link that leads to what is alike may ask to have all of it selected.
  if (new URLSearchParams(location.search).has("pick")) {
    for (const box of boxes()) pick(box, true);
    show();
  }
}
