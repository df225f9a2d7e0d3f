// Times that tick, in the same words the server writes them (see console/format.py and
// console/templatetags/times.py). The server's clock rules: its lead is taken once.

const lead = Number(document.body.dataset.now ?? Date.now()) - Date.now();
export const now = () => Date.now() + lead;

const two = (n) => String(n).padStart(2, "0");

function words(seconds) {
  const [d, h, m, s] = [
    Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60, seconds % 60,
  ];
  if (d) return h ? `${d} d ${h} h` : `${d} d`;
  if (h) return m ? `${h} h ${m} m` : `${h} h`;
  if (m) return `${m} m ${s} s`;
  return `${s} s`;
}

const FORMATS = {
  clock: (s) => s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : words(s),
  words,
  ago: (s) => s < 5 ? "just now" : s < 60 ? `${s} s ago` : `${words(s - (s % 60)).replace(" 0 s", "")} ago`,
};

// Until a moment, or since: "11 m left", "2 h 14 m late".
function left(seconds) {
  const whole = Math.abs(seconds);
  const span = whole < 60 ? whole : whole - (whole % 60);
  return `${words(span).replace(/ 0 s$/, "")} ${seconds > 0 ? "left" : "late"}`;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", hourCycle: "h23" });
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone.split("/").at(-1).replaceAll("_", " ");
const utc = (at) => `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;

function local(at) {
  const year = at.getFullYear() === new Date(now()).getFullYear() ? "" : ` ${at.getFullYear()}`;
  return `${DAY.format(at)}${year} ${CLOCK.format(at)}`;
}

// When it was in the viewer's zone, and in UTC on hover.
function place() {
  for (const zone of document.querySelectorAll("[data-zone]")) {
    if (!zone.textContent.endsWith(ZONE)) zone.textContent = `times in ${ZONE}`;
  }
  for (const time of document.querySelectorAll("time[data-at]")) {
    const at = new Date(time.dateTime);
    const short = time.dataset.at === "short";
    const text = short ? local(at).slice(0, -3) : local(at);
    if (time.textContent !== text) time.textContent = text;
    if (short && time.title !== utc(at)) time.title = utc(at);
  }
  for (const time of document.querySelectorAll("time[data-tick]")) {
    const at = new Date(time.dateTime);
    const title = `${local(at)} · ${utc(at)}`;
    if (time.title !== title) time.title = title;
  }
}

function tick() {
  place();
  for (const time of document.querySelectorAll("time[data-tick]")) {
    const past = Math.floor((now() - Date.parse(time.dateTime)) / 1000);
    const { tick: form } = time.dataset;
    const text = form === "due" ? left(-past)
      : form === "left" ? past < 0 ? words(-past) : "no time left"
      : FORMATS[form](Math.max(0, past));
    if (time.textContent !== text) time.textContent = text;
    const { soon, late } = time.dataset;
    if (soon) {
      time.classList.toggle("late", now() >= Number(late));
      time.classList.toggle("soon", now() >= Number(soon) && now() < Number(late));
    }
  }
}

tick();
setInterval(tick, 1000);
document.addEventListener("htmx:after:swap", tick);
