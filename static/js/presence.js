// Who reads what: the page says which review it shows while somebody can see it, and draws
// who else is there, in the rows of the queue and beside the review.

let socket;
let said;

const shown = () => document.querySelector("#detail[data-code]")?.dataset.code ?? null;
const onQueue = () => document.getElementById("readers");

function say() {
  const review = document.hidden ? null : shown();
  if (!onQueue() || socket?.readyState !== WebSocket.OPEN || said === review) return;
  said = review;
  socket.send(JSON.stringify({ type: "reading", review }));
}

function avatar({ initials, hue, name }) {
  const box = document.createElement("span");
  box.className = `av ${hue}`;
  box.textContent = initials;
  box.title = `${name} is reading this`;
  box.setAttribute("aria-hidden", "true");
  return box;
}

const names = (people) => people.map(({ name }) => name).join(", ");

function spoken(text) {
  const box = document.createElement("span");
  box.className = "sr";
  box.textContent = text;
  return box;
}

// Drawn again only where something else is to be seen: the rest keeps its focus.
function fill(box, people, words) {
  const key = people.map(({ code }) => code).join(" ");
  if (box.dataset.people === key) return;
  box.dataset.people = key;
  box.replaceChildren(...people.map(avatar), ...(people.length ? words(people) : []));
}

function drawRow(row, people) {
  let box = row.querySelector(".readers");
  if (!people.length) return box?.remove();
  if (!box) {
    box = document.createElement("span");
    box.className = "readers";
    row.querySelector(".sub")?.append(box);
  }
  fill(box, people, (found) => [spoken(`, ${names(found)} reading this`)]);
}

function draw() {
  const box = onQueue();
  if (!box?.dataset.readers) return;
  const { viewer } = document.body.dataset;
  const readers = JSON.parse(box.dataset.readers);
  const others = (code) => (readers[code] ?? []).filter((person) => person.code !== viewer);
  for (const row of document.querySelectorAll("#queue li[id^=review-]")) drawRow(row, others(row.id.slice("review-".length)));
  const here = new Map(Object.keys(readers).flatMap(others).map((person) => [person.code, person]));
  fill(document.getElementById("here"), [...here.values()].slice(0, 4), (found) => [spoken(`${names(found)} also here`)]);
  drawDetail(others(shown()), JSON.parse(box.dataset.until)[shown()]);
}

function drawDetail(people, until) {
  for (const part of document.querySelectorAll(".props .reading")) part.hidden = !people.length;
  const box = document.getElementById("reading");
  if (box) fill(box, people, (found) => [document.createTextNode(names(found))]);
  const ends = document.getElementById("claimed-until");
  if (ends && until && until > ends.dateTime) ends.dateTime = until;
}

document.addEventListener("htmx:ws:after:connection", ({ detail }) => {
  socket = detail.connection.socket;
  said = undefined;
  say();
});
document.addEventListener("visibilitychange", say);
document.addEventListener("htmx:after:swap", () => {
  say();
  draw();
});
document.addEventListener("rows:changed", draw);
document.addEventListener("htmx:ws:after:message:incoming", draw);
