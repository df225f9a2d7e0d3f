// Somebody took over, or decided, what this viewer had claimed: said wherever they are.
import { remark } from "./toast.js";

const READING_MS = 20_000;
let told;

document.addEventListener("htmx:ws:after:message:incoming", () => {
  const box = document.getElementById("take-overs");
  if (!box?.dataset.takeOvers || box === told) return;
  told = box;
  const { viewer } = document.body.dataset;
  const mine = JSON.parse(box.dataset.takeOvers).filter((notice) => notice.from === viewer);
  const shown = document.querySelector("#detail[data-code]")?.dataset.code;
  const last = mine.filter(({ url }) => !url.includes(shown)).at(-1); // an open pane tells it itself
  if (last) remark(last.text, READING_MS, [last.url, "Look"]);
});
