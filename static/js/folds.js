// Reviews that are alike stand in one row. `o` shows each of them, and folds them again.
import { isOn, toUsual } from "./key_map.js";

const TYPED = "input, textarea, select, [contenteditable]";

function currentFold() {
  const row = document.querySelector("#queue [aria-current]")?.closest("li") ?? document.activeElement?.closest?.("#queue li");
  return row?.closest("[data-fold]");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return; // the letter of a page
  if (toUsual(event.key.toLowerCase()) !== "o" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (!isOn() || event.target.closest(TYPED) || document.querySelector("dialog[open]")) return;
  const toggle = currentFold()?.querySelector(":scope > .unfold");
  if (!toggle) return;
  event.preventDefault();
  toggle.click();
});
