// What is half typed stays typed: over a switch to another review, a reload, a sign-in.

const store = (id) => `draft:${id}`;

function restore(root = document) {
  for (const field of root.querySelectorAll("textarea[data-draft]")) {
    const kept = sessionStorage.getItem(store(field.id));
    if (kept && !field.value) field.value = kept;
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.matches("textarea[data-draft]")) return;
  if (target.value) sessionStorage.setItem(store(target.id), target.value);
  else sessionStorage.removeItem(store(target.id));
});

// The server has taken the text (HX-Trigger): the field is free again.
document.addEventListener("sent", ({ detail }) => {
  sessionStorage.removeItem(store(detail.field));
  const field = document.getElementById(detail.field);
  if (field) field.value = "";
});

document.addEventListener("htmx:after:swap", () => restore());
restore();
