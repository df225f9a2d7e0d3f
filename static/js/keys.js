// One key, one action: J and K walk the list, digits pick an offered answer, G and a letter
// go to a page, and any control that carries data-hotkey answers to its key. Silent while
// somebody types or a dialog is open. Ctrl+Enter sends from any field.
import { isBehind, isJustOpened, move, sayJustOpened, sayLoading } from "./cursor.js";
import { isOn, toUsual } from "./key_map.js";
import "./second_press.js";
import { remark } from "./toast.js";

const GO_MS = 3000;
let going;

const typing = (element) => element.closest("input, textarea, select, [contenteditable]");
const find = (name, value) =>
  [...document.querySelectorAll(`[data-${name}="${CSS.escape(value)}"]`)].find((control) => !control.closest("[hidden]"));

export function press(control) {
  const needed = document.getElementById(control.dataset.needs);
  if (needed && !needed.value.trim()) {
    if (control.dataset.why) remark(control.dataset.why);
    needed.focus();
  } else if (control.matches("textarea, input")) control.focus();
  else control.click();
}

// Whether what is on screen may be acted on at all.
function isHeld(control) {
  if (!control.closest("#detail")) return false;
  if (isBehind()) sayLoading();
  else if (control.matches("[name=action]") && isJustOpened()) sayJustOpened();
  else return false;
  return true;
}

function send(field) {
  const scope = field.closest("dialog, form");
  const buttons = [...(scope?.querySelectorAll("button:enabled:not([form])") ?? [])]
    .filter((button) => button.closest("dialog, form") === scope);
  const button = buttons.find((each) => each.matches("[type=submit]:is(.primary, .danger)"))
    ?? buttons.find((each) => each.matches(scope.id === "dock" ? "[hx-post]" : "[type=submit]"));
  if (!button) return false;
  if (!isHeld(button)) press(button);
  return true;
}

function stopGoing() {
  clearTimeout(going);
  going = undefined;
}

function startGoing() {
  const pages = [...document.querySelectorAll("[data-go]")].map((link) => `${link.dataset.go.toUpperCase()} ${link.title}`);
  remark(`Go to: ${pages.join(", ")}`, GO_MS);
  going = setTimeout(stopGoing, GO_MS);
}

function go(key) {
  stopGoing();
  const link = find("go", key);
  if (link) link.click();
  else remark("No page has this letter.", 1500);
}

function walk(event) {
  const direction = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  return direction && event.target.matches("#queue [data-open-row]") && move(direction);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key === "Enter" && !event.repeat && typing(event.target) && send(event.target)) event.preventDefault();
    return;
  }
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (walk(event)) {
    event.preventDefault();
    return;
  }
  if (!isOn() || event.key.length > 1) return;
  if (going) {
    event.preventDefault();
    go(event.key.toLowerCase());
    return;
  }
  const key = toUsual(event.key.toLowerCase());
  const steps = key === "j" || key === "k";
  if (!key || (event.repeat && !steps)) return;
  if (steps) {
    if (move(key === "j" ? 1 : -1)) event.preventDefault();
    return;
  }
  if (key === "g") {
    startGoing();
    return;
  }
  const control = find("pick", key) ?? find("hotkey", key);
  if (!control || control.disabled) return;
  if (control.matches(".for-reviewers") && !("reviews" in document.body.dataset)) return;
  event.preventDefault();
  if (!isHeld(control)) press(control);
});
