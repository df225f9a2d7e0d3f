// Form and YAML are two sides of one document: the server is told which was touched last,
// and an answer that is on its way may not overwrite what is typed now.

const editor = document.getElementById("editor");
const side = editor.elements.namedItem("side");

editor.addEventListener("input", ({ target }) => {
  if (target.id === "yaml") side.value = "yaml";
  else if (target.name?.startsWith("f:")) side.value = "form";
  else return;
  // What was said of the text before is no longer so.
  document.getElementById("draft-state").textContent = "checking …";
  editor.dispatchEvent(new CustomEvent("htmx:abort"));
});

// Why one saves, and the name of what is to be added, are no part of the document.
for (const kind of ["input", "change"]) {
  editor.addEventListener(kind, (event) => {
    const { id, name } = event.target;
    if (id !== "yaml" && !name?.startsWith("f:")) event.stopPropagation();
  }, true);
}

// Saving is a page of its own; Enter in a field must not do what the first button does.
editor.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
});

// The form is drawn anew when the YAML changes: what was folded stays folded.
const unfolded = new Map();
editor.addEventListener("toggle", ({ target }) => unfolded.set(target.dataset.group, target.open), true);
document.addEventListener("htmx:after:swap", () => {
  for (const group of editor.querySelectorAll("details[data-group]")) {
    group.open = unfolded.get(group.dataset.group) ?? group.open;
  }
});

// A value on the page of a policy leads to its field here.
const path = decodeURIComponent(location.hash).match(/^#f:(.+)/)?.[1];
const field = path && (editor.elements.namedItem(`f:${path}`) ?? editor.querySelector(`[data-path="${CSS.escape(path)}"] summary`));
if (field) {
  history.replaceState(null, "", location.pathname + location.search); // once
  field.closest?.("details").setAttribute("open", "");
  field.focus?.();
  field.scrollIntoView?.({ block: "center" });
}

let typed = false;
editor.addEventListener("input", () => { typed = true; });
editor.addEventListener("submit", () => { typed = false; });
addEventListener("beforeunload", (event) => { if (typed) event.preventDefault(); });

// What was typed before this script ran, or kept by the browser when the page was loaded
// again, would otherwise stand on one side alone.
const differs = (field) => {
  if (field.matches("select")) {
    const [first] = field.options;
    return field.value !== ([...field.options].find((option) => option.defaultSelected) ?? first).value;
  }
  return field.matches("[type=radio], [type=checkbox]")
    ? field.checked !== field.defaultChecked
    : field.value !== field.defaultValue;
};
// htmx listens from the next task on.
setTimeout(() => {
  const early = [...editor.querySelectorAll("#yaml, [name^='f:']")].find(differs);
  early?.dispatchEvent(new Event("input", { bubbles: true }));
});
