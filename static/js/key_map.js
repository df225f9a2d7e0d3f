// Which key does what for this person. Controls name their usual key (`data-hotkey`); people
// may have chosen another one, or none, or switched all single keys off: with speech input a
// word would press them.
const root = document.documentElement;
const changes = JSON.parse(document.body.dataset.keyChanges ?? "{}");
const chosen = new Map(Object.entries(changes).map(([usual, key]) => [key, usual]));

export const isOn = () => root.dataset.keys !== "off";

// What the key that was pressed stands for; undefined for one that has been given up.
export const toUsual = (key) => (key && chosen.get(key)) ?? (key in changes ? undefined : key);
// None where the person has put something else on it.
export const toChosen = (usual) => changes[usual] ?? (chosen.has(usual) ? "" : usual);

function name(box, usual) {
  const key = toChosen(usual).toUpperCase();
  if (box.textContent !== key) box.textContent = key;
  box.hidden = !key;
}

// On the controls themselves, and for assistive technology.
function announce() {
  for (const control of document.querySelectorAll("[data-hotkey]")) {
    const key = isOn() ? toChosen(control.dataset.hotkey) : "";
    if (key) control.setAttribute("aria-keyshortcuts", key.toUpperCase());
    else control.removeAttribute("aria-keyshortcuts");
    const box = control.querySelector("kbd:not([data-key-of])");
    if (box) name(box, control.dataset.hotkey);
  }
  for (const box of document.querySelectorAll("[data-key-of]")) name(box, box.dataset.keyOf);
}

document.querySelector("[data-keys-switch]")?.addEventListener("change", ({ target }) => {
  if (target.checked) delete root.dataset.keys;
  else root.dataset.keys = "off";
  announce();
});
document.addEventListener("htmx:after:swap", announce);
announce();
