// The one line at the edge of the screen that says what happened to the page itself.

const READING_MS = 8000;
let reading;

export function toast(text, link) {
  const box = document.getElementById("toast");
  if (!box) return;
  clearTimeout(reading);
  box.hidden = !text;
  box.querySelector("[data-text]").textContent = text;
  const anchor = box.querySelector("a");
  anchor.hidden = !link;
  if (link) [anchor.href, anchor.textContent] = link;
}

// About one request: said once, then out of the way.
export function remark(text, milliseconds = READING_MS, link = undefined) {
  toast(text, link);
  reading = setTimeout(() => toast(""), milliseconds);
}
