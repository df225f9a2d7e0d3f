// Dialogs, the theme switch, copying a link, and an answer picked from a list.

import { confirmDone } from "./toast.js";

const root = document.documentElement;
if (navigator.clipboard) root.dataset.copy = "";

function dark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function switchTheme() {
  root.dataset.theme = dark() ? "light" : "dark";
  // The server writes it into every page: no script has to run before the first paint.
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax${secure}`;
}

async function copy(button) {
  const { copyLink, copyText } = button.dataset;
  await navigator.clipboard.writeText(copyText ?? new URL(copyLink, location.href).href);
  const label = button.getAttribute("aria-label");
  button.setAttribute("aria-label", copyText ? "Copied" : "Link copied");
  button.classList.add("done");
  setTimeout(() => {
    button.setAttribute("aria-label", label);
    button.classList.remove("done");
  }, 1500);
}

function openDialog(button) {
  // What the dialog asks about has to be complete: behind it nothing can be filled in.
  if (button.form && !button.form.reportValidity()) return;
  const dialog = document.getElementById(button.dataset.dialog);
  const reason = dialog.querySelector("[data-from]");
  const note = reason && document.getElementById(reason.dataset.from);
  if (note?.value && !reason.value) reason.value = note.value;
  dialog.showModal();
  dialog.querySelector("[data-first]")?.focus();
  dialog.dispatchEvent(new Event("opened"));
}

// A link may lead to the question itself: "Restore …" in a list opens it where it is asked.
function openNamedDialog() {
  const name = location.hash.slice(1);
  const button = name && document.querySelector(`button[data-dialog="${CSS.escape(name)}"]`);
  if (!button) return;
  history.replaceState(null, "", location.pathname + location.search); // once
  openDialog(button);
}
setTimeout(openNamedDialog); // htmx listens from the next task on
addEventListener("hashchange", openNamedDialog);
// What was sent from a dialog and refused is shown in it again.
document.querySelector("dialog[data-open-now]")?.showModal();

function answer(button) {
  const field = document.getElementById(button.dataset.fill);
  field.value = button.querySelector("[data-answer]").textContent.trim();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  // Not the field: the next key may send it.
  (field.form.querySelector("button.primary:enabled") ?? field).focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  if (button.matches("[data-dialog]")) {
    event.preventDefault(); // without a script such a button may send its form
    openDialog(button);
  }
  else if (button.matches("[data-close]")) button.closest("dialog").close();
  else if (button.matches("[data-theme-switch]")) switchTheme();
  else if (button.matches("[data-copy-link], [data-copy-text]")) copy(button);
  else if (button.matches("[data-fill]")) answer(button);
});

// What the gates said, and what was confirmed, was about the text before this key.
document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-judged]")) return;
  const verdict = document.getElementById("amend-verdict");
  verdict.setAttribute("aria-busy", "true");
  for (const box of verdict.querySelectorAll("[name=confirmed]")) {
    box.checked = false;
    box.disabled = true;
  }
});

// The button says what it lets through.
document.addEventListener("htmx:after:swap", () => {
  const label = document.querySelector("[data-grant]");
  if (!label) return;
  const { asking } = document.getElementById("amend-verdict").dataset;
  const text = asking ? `Approve with ${asking} finding${asking === "1" ? "" : "s"}` : "Approve with changes";
  if (label.textContent !== text) label.textContent = text;
  markWrongFields();
});

// Beside the words of the verdict: which fields it speaks of.
function markWrongFields() {
  const { wrong = "" } = document.getElementById("amend-verdict").dataset;
  const names = wrong.split(" ");
  for (const field of document.querySelectorAll("#amend textarea[data-judged]")) {
    if (names.includes(field.name)) field.setAttribute("aria-invalid", "true");
    else if (!document.getElementById(`${field.name}-error`)) field.removeAttribute("aria-invalid");
  }
}

// Taken with nothing to show (204): what changed arrives as an update.
document.addEventListener("htmx:after:request", ({ detail }) => {
  if (detail.ctx.response?.status !== 204) return;
  const sent = detail.ctx.sourceElement;
  sent.closest("dialog")?.close();
  const said = detail.ctx.sourceEvent?.submitter?.dataset.sent ?? sent.dataset.sent;
  if (!said) return;
  sent.reset();
  confirmDone(said);
});
