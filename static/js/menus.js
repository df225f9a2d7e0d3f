// A small <details> that opens over the page: closed by Escape, by a click elsewhere,
// and by Enter, which would send the form that it stands in. A form of its own is sent.

const opened = () => document.querySelectorAll("details[data-menu][open]");

function close(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}

document.addEventListener("click", ({ target }) => {
  for (const menu of opened()) if (!menu.contains(target)) menu.open = false;
});

// Where there is little room the dock shows the rulings alone, and the rest on request.
function showMore() {
  const more = "dockMore" in document.body.dataset;
  document.querySelector("[data-dock-toggle]")?.setAttribute("aria-expanded", String(more));
}

document.addEventListener("click", ({ target }) => {
  if (!target.closest?.("[data-dock-toggle]")) return;
  if ("dockMore" in document.body.dataset) delete document.body.dataset.dockMore;
  else document.body.dataset.dockMore = "";
  showMore();
});
document.addEventListener("htmx:after:swap", showMore);

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.("details[data-menu][open]");
  if (!menu) return;
  const chooses = event.key === "Enter" && event.target.matches("input, select") && !menu.contains(event.target.form);
  if (event.key !== "Escape" && !chooses) return;
  event.preventDefault();
  close(menu);
});
