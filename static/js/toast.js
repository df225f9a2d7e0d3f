// The one line at the edge of the screen that says what happened to the page itself.

const READING_MS = 8000;
let reading;
let standing = [""];

function draw(text, link, icon = "alert") {
  const box = document.getElementById("toast");
  if (!box) return;
  box.hidden = !text;
  box.dataset.icon = icon;
  box.querySelector("use").setAttribute("href", `#i-${icon}`);
  box.querySelector("[data-text]").textContent = text;
  const anchor = box.querySelector("a");
  anchor.hidden = !link;
  if (link) [anchor.href, anchor.textContent] = link;
}

function restore() {
  clearTimeout(reading);
  reading = undefined;
  draw(...standing);
}

// What holds until something else is said; "" takes it back, and lets a remark be read.
export function toast(text, link) {
  standing = [text, link];
  if (text || !reading) restore();
}

// About one request: said once, then out of the way of what still holds.
export function remark(text, milliseconds = READING_MS, link = undefined, icon = "alert") {
  clearTimeout(reading);
  draw(text, link, icon);
  reading = setTimeout(restore, milliseconds);
}

// What was asked for has been done.
export const confirmDone = (text, milliseconds, link) => remark(text, milliseconds, link, "check");

// It no longer holds. Anything said since stays.
export function unsay(text) {
  if (reading && document.querySelector("#toast [data-text]")?.textContent === text) restore();
}
