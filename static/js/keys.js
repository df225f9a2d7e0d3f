// One key, one action: J and K walk the list, and any control that carries data-hotkey
// answers to its letter. Silent while somebody types or a dialog is open.
import { isBehind, move, sayLoading } from "./cursor.js";

const typing = (element) => element.closest("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]") || event.repeat && !/^[jk]$/i.test(event.key)) return;
  const key = event.key.toLowerCase();
  if (key === "j" || key === "k") {
    if (move(key === "j" ? 1 : -1)) event.preventDefault();
    return;
  }
  const control = document.querySelector(`[data-hotkey="${CSS.escape(key)}"]`);
  if (!control || control.disabled) return;
  event.preventDefault();
  if (control.closest("#detail") && isBehind()) {
    sayLoading();
    return;
  }
  const needed = document.getElementById(control.dataset.needs);
  if (needed && !needed.value.trim()) needed.focus();
  else if (control.matches("textarea")) control.focus();
  else control.click();
});
