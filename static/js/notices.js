// Desktop notifications, and a sound, while the console is open and nobody looks at it.
// Updates over the socket say that something has changed; what came is then asked for, once
// for all of it.
const ASK_MS = 1000;
const { desktopFrom, newest } = document.body.dataset;
const supported = "Notification" in window;
const isAway = () => document.hidden || !document.hasFocus();
let since = Number(document.body.dataset.now);
let asking;

function play() {
  const audio = new AudioContext();
  for (const [start, pitch] of [[0, 660], [0.18, 880]]) {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.frequency.value = pitch;
    volume.gain.value = 0.08;
    tone.connect(volume).connect(audio.destination);
    tone.start(audio.currentTime + start);
    tone.stop(audio.currentTime + start + 0.14);
  }
}

function notify(items) {
  const [first] = items;
  const title = items.length === 1 ? first.title : `${items.length} new reviews wait`;
  const body = items.length === 1 ? first.about : items.slice(0, 3).map((item) => item.title).join("\n");
  const notice = new Notification(title, { body, tag: "checkrail-reviews" });
  notice.addEventListener("click", () => {
    window.focus();
    location.href = first.url;
  });
  if ("sound" in document.body.dataset) play();
}

async function ask() {
  asking = undefined;
  const answer = await fetch(`${newest}?since=${since}`).catch(() => null);
  if (!answer?.ok) return;
  const { items } = await answer.json();
  if (!items.length) return;
  since = Math.max(since, ...items.map(({ at }) => at));
  if (isAway()) notify(items);
}

if (supported && desktopFrom && newest) {
  document.addEventListener("htmx:ws:after:message:incoming", () => {
    if (Notification.permission === "granted") asking ??= setTimeout(ask, ASK_MS);
  });
}

// On the page of one's own notifications.
const box = document.querySelector("[data-desktop]");
function showState() {
  const words = { granted: "Allowed in this browser.", denied: "Forbidden in this browser: its own settings have a switch for this page." };
  box.hidden = false;
  box.querySelector("[data-desktop-state]").textContent = words[Notification.permission] ?? "Not allowed in this browser yet.";
  box.querySelector("button").hidden = Notification.permission !== "default";
}
if (box && supported) {
  box.querySelector("button").addEventListener("click", () => Notification.requestPermission().then(showState));
  showState();
}
