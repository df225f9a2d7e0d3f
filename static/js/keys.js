// One key, one action: J and K walk the list, and any control that carries data-hotkey
// answers to its letter. Silent while somebody types or a dialog is open, and when the
// person has switched single keys off: with speech input a word would press them.
import { isBehind, move, sayLoading } from "./cursor.js";

const root = document.documentElement;
const isOn = () => root.dataset.keys !== "off";
const typing = (element) => element.closest("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!isOn() || document.querySelector("dialog[open]") || event.repeat && !/^[jk]$/i.test(event.key)) return;
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

// Tell assistive technology which key a control answers to.
function announce() {
  for (const control of document.querySelectorAll("[data-hotkey]")) {
    if (isOn()) control.setAttribute("aria-keyshortcuts", control.dataset.hotkey.toUpperCase());
    else control.removeAttribute("aria-keyshortcuts");
  }
}

function setKeys(on) {
  if (on) delete root.dataset.keys;
  else root.dataset.keys = "off";
  try {
    if (on) localStorage.removeItem("keys");
    else localStorage.setItem("keys", "off");
  } catch {
    // Not remembered, but switched.
  }
  announce();
}

const keySwitch = document.querySelector("[data-keys-switch]");
if (keySwitch) {
  keySwitch.checked = isOn();
  keySwitch.addEventListener("change", () => setKeys(keySwitch.checked));
}
document.addEventListener("htmx:after:swap", announce);
announce();
