// A small <details> that opens over the page: closed by Escape, by a click elsewhere,
// and by Enter, which in a form would send it.

const opened = () => document.querySelectorAll("details[data-menu][open]");

function close(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}

document.addEventListener("click", ({ target }) => {
  for (const menu of opened()) if (!menu.contains(target)) menu.open = false;
});

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("details[data-menu][open]");
  if (!menu) return;
  const chooses = event.key === "Enter" && event.target.matches("input, select");
  if (event.key !== "Escape" && !chooses) return;
  event.preventDefault();
  close(menu);
});
