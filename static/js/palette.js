// The command palette: Ctrl+K (⌘K), a few letters, Enter. The focus stays in the field; the
// arrow keys choose. What is done to a review is done by its own button, and only while the
// review on screen is the one from which the palette was opened.
import { isBehind, sayLoading } from "./cursor.js";
import { press } from "./keys.js";
import { remark } from "./toast.js";

const dialog = document.getElementById("palette");
const field = dialog?.querySelector("[role=combobox]");
const list = dialog?.querySelector("[role=listbox]");
let before;
let counter = 0;

const seen = () => ["content_digest", "version"].map((name) => document.querySelector(`#dock [name=${name}]`)?.value).join();
const options = () => [...list.querySelectorAll("[role=option]")];
const active = () => list.querySelector("[aria-selected=true]");
const words = () => field.value.toLowerCase().split(/\s+/).filter(Boolean);
const matches = (text) => words().every((word) => text.toLowerCase().includes(word));

function build(title, about, icon) {
  const option = document.createElement("button");
  Object.assign(option, { type: "button", tabIndex: -1, className: "option" });
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  if (icon) option.append(icon.cloneNode(true));
  for (const [name, text] of [["what", title], ["about", about]]) {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    option.append(span);
  }
  return option;
}

const label = (control) =>
  (control.getAttribute("aria-label") ?? [...control.childNodes].filter(({ nodeName }) => nodeName !== "KBD").map((node) => node.textContent).join("")).trim().replace(/\s+/g, " ");

const nameOf = (control) => `${control.dataset.hotkey} ${control.value} ${label(control)}`;

function fill(id, title, items) {
  const box = document.getElementById(id);
  const head = document.createElement("p");
  head.role = "presentation";
  head.textContent = title;
  box.replaceChildren(head, ...items);
  box.hidden = !items.length;
}

function fillActions() {
  const controls = [...document.querySelectorAll("#detail [data-hotkey], .nav [data-theme-switch].iconbtn, #user-menu [data-dialog]")]
    .filter((control) => !control.disabled && matches(label(control)));
  fill("palette-actions", "Do", controls.map((control) => {
    const name = control.closest("#detail") ? nameOf(control) : undefined;
    const option = build(label(control), name ? "this review" : "", control.querySelector("svg:not(.to-light)"));
    option.addEventListener("click", () => act(control, name));
    return option;
  }));
  const pages = [...document.querySelectorAll("[data-go], [data-command]")].filter(({ title }) => matches(title));
  fill("palette-pages", "Go to", pages.map((link) => {
    const option = build(link.title, "page", link.querySelector("svg"));
    option.addEventListener("click", () => { location.href = link.href; });
    return option;
  }));
}

function choose(option) {
  active()?.setAttribute("aria-selected", "false");
  if (!option) {
    field.removeAttribute("aria-activedescendant");
    return;
  }
  option.id ||= `palette-${++counter}`;
  option.setAttribute("aria-selected", "true");
  field.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function refresh() {
  fillActions();
  settle();
}

// The first one is chosen until the arrow keys say otherwise.
function settle() {
  const found = options();
  choose(found[0]);
  document.getElementById("palette-none").hidden = found.length > 0;
  document.getElementById("palette-said").textContent = `${found.length} found`;
}

function act(control, name) {
  dialog.close();
  if (name === undefined) {
    control.click();
    return;
  }
  // An update of the same review may have put another button in its place.
  const current = [...document.querySelectorAll("#detail [data-hotkey]")].find((each) => nameOf(each) === name);
  if (isBehind()) sayLoading();
  else if (!current || current.disabled || seen() !== before) remark("The review has changed meanwhile. Nothing was sent.");
  else press(current);
}

export function openPalette() {
  if (!dialog || document.querySelector("dialog[open]")) return;
  before = seen();
  field.value = "";
  document.getElementById("palette-found").replaceChildren();
  dialog.showModal();
  field.focus();
  refresh();
}

dialog?.addEventListener("keydown", (event) => {
  const found = options();
  const index = found.indexOf(active());
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: found.length - 1 }[event.key];
  if (next !== undefined && found.length) {
    event.preventDefault();
    choose(found[(next + found.length) % found.length]);
  } else if (event.key === "Enter" && !event.isComposing) {
    event.preventDefault();
    active()?.click();
  }
});
field?.addEventListener("input", refresh);
dialog?.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(); });
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.target?.id === "palette-found" && dialog.open) settle();
});
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  if (dialog?.open) dialog.close();
  else openPalette();
});
document.addEventListener("click", ({ target }) => {
  if (target.closest?.("[data-palette]")) openPalette();
});
