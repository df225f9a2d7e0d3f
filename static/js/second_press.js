// What is high takes a second press, by key or by mouse, about the same content: the first
// one only changes the button, and says so.
import { remark, unsay } from "./toast.js";

const TWICE_MS = 5000;
let pressed;

// What is on screen: a second press is one only if it is about the same.
const seen = () => `${document.getElementById("detail")?.dataset.code} ${document.querySelector("#dock [name=content_digest]")?.value}`;

// Again after every update of the page, which draws the button as the server knows it.
function show() {
  if (pressed && pressed.seen !== seen()) {
    disarm();
    return;
  }
  for (const button of document.querySelectorAll("#dock [data-twice]")) {
    const armed = pressed?.value === button.value;
    if (armed === "armed" in button.dataset) continue;
    if (armed) button.dataset.armed = `Press again to ${button.textContent.trim().split(/[\s,]/)[0].toLowerCase()}`;
    else delete button.dataset.armed;
    // Shown beside the button, which stays where it is: the second click must find it.
    if (armed) button.setAttribute("aria-label", button.dataset.armed);
    else button.removeAttribute("aria-label");
  }
}

function disarm() {
  if (!pressed) return;
  clearTimeout(pressed.timer);
  unsay(pressed.said);
  pressed = undefined;
  show();
}

function arm(button) {
  disarm();
  const said = button.dataset.twice;
  pressed = { value: button.value, seen: seen(), said, timer: setTimeout(disarm, TWICE_MS) };
  show();
  remark(said, TWICE_MS);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  const again = pressed?.value === button.value && pressed.seen === seen();
  // The second half of a double click was not meant as an answer.
  if (!button.matches("[data-twice]") || (again && event.detail < 2)) {
    disarm();
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!again) arm(button);
}, { capture: true });
document.addEventListener("htmx:after:swap", show);
document.addEventListener("cursor:moved", disarm);
