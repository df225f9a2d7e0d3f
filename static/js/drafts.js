// What is half typed stays typed: over a switch to another review, a reload, a sign-in.

const store = (id) => `draft:${id}`;

function restore(root = document) {
  for (const field of root.querySelectorAll("textarea[data-draft]")) {
    const kept = sessionStorage.getItem(store(field.id));
    if (kept && field.value === field.defaultValue) field.value = kept;
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.matches("textarea[data-draft]")) return;
  if (target.value !== target.defaultValue) sessionStorage.setItem(store(target.id), target.value);
  else sessionStorage.removeItem(store(target.id));
});

// The server has taken the texts (HX-Trigger): the fields are free again.
document.addEventListener("sent", ({ detail }) => {
  for (const id of detail.fields) {
    sessionStorage.removeItem(store(id));
    const field = document.getElementById(id);
    if (field) field.value = field.defaultValue;
  }
});

document.addEventListener("htmx:after:swap", () => restore());
restore();
