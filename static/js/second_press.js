// What is high takes a second press, by key or by mouse, about the same content: the first
// one only changes the button, and says so.
import { remark } from "./toast.js";

const TWICE_MS = 5000;
let pressed;

// What is on screen: a second press is one only if it is about the same.
const seen = () => document.querySelector("#dock [name=content_digest]")?.value;

// Again after every update of the page, which draws the button as the server knows it.
function show() {
  for (const button of document.querySelectorAll("#dock [data-twice]")) {
    const armed = pressed?.value === button.value && pressed.digest === seen();
    if (armed === "armed" in button.dataset) continue;
    if (armed) button.dataset.armed = `Press again to ${button.textContent.trim().split(" ")[0].toLowerCase()}`;
    else delete button.dataset.armed;
    // Shown beside the button, which stays where it is: the second click must find it.
    if (armed) button.setAttribute("aria-label", button.dataset.armed);
    else button.removeAttribute("aria-label");
  }
}

function disarm() {
  clearTimeout(pressed?.timer);
  pressed = undefined;
  show();
}

function arm(button) {
  disarm();
  pressed = { value: button.value, digest: seen(), timer: setTimeout(disarm, TWICE_MS) };
  show();
  remark(button.dataset.twice, TWICE_MS);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (!button) return;
  const again = pressed?.value === button.value && pressed.digest === seen();
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
