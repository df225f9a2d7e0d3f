// The page's one socket: says where the page stands, shows whether updates can arrive,
// and lets an open pane fetch itself again when what it shows has changed.

import { forgetPane, forgetPanes } from "./panes.js";
import { remark, toast } from "./toast.js";

const OFFLINE_GRACE_MS = 2500;
const WORDS = { live: "live", offline: "reconnecting", ended: "not live" };
let offline;

const cursor = () => document.getElementById("live-cursor");
const pane = () => document.querySelector("#detail[data-code]");
const list = () => document.querySelector("#runs, #permissions, #loop, #shadow, #queue-list");

function show(state) {
  if (state !== "offline") endGrace();
  const dot = document.getElementById("conn");
  if (!dot) return;
  dot.dataset.state = state === "ended" ? "offline" : state;
  dot.textContent = WORDS[state];
}

function endGrace() {
  clearTimeout(offline);
  offline = undefined;
}

document.addEventListener("htmx:ws:after:connection", ({ detail }) => {
  const since = Number(cursor().dataset.since);
  detail.connection.socket.send(JSON.stringify({ type: "resume", since }));
  show("live");
  toast("");
});

document.addEventListener("htmx:ws:close", ({ detail }) => {
  forgetPanes(); // nobody says any more when they change
  if (detail.code === 4401) {
    show("ended");
    const next = encodeURIComponent(location.pathname + location.search);
    toast("You are signed out. What you typed is kept.", [
      `${document.body.dataset.signIn}?next=${next}`, "Sign in again",
    ]);
  } else if (detail.code === 4404) {
    show("ended");
    toast("You no longer have access to this project.", ["/", "Go to your projects"]);
  } else if (detail.code === 4429) {
    show("ended");
    toast("Too many pages are open: this one is not live.", [location.href, "Reload"]);
  } else if (detail.code !== null) {
    show("offline");
    // From the first loss on: each further attempt that fails closes a socket, too.
    offline ??= setTimeout(
      () => toast("The connection is lost; trying again. What you see may be old."),
      OFFLINE_GRACE_MS,
    );
  } else {
    endGrace();
  }
});

document.addEventListener("htmx:ws:after:message:incoming", () => {
  const touched = (cursor()?.dataset.touched ?? "").split(" ");
  const everything = touched.includes("*");
  if (everything) forgetPanes();
  else touched.forEach(forgetPane);
  const shown = pane();
  if (shown && (everything || touched.includes(shown.dataset.code))) htmx.trigger(shown, "update");
  if (everything && list()) htmx.trigger(list(), "update");
});

// Polls and updates fetch by themselves; what a person does is a trusted event, or a POST.
const isAsked = ({ request, sourceEvent }) => request.method === "POST" || sourceEvent?.isTrusted;
// What is typed into a change is only judged: nothing can have been taken.
const isAct = ({ request, sourceElement }) => request.method === "POST" && !sourceElement.matches("[data-judged]");

// An act without an answer may stand all the same: look, and say no more than is known.
function lookAgain(cause) {
  remark(`${cause} It is not known whether this was taken. Look before you try again.`);
  for (const part of [pane(), list()]) if (part) htmx.trigger(part, "update");
}

document.addEventListener("htmx:response:error", ({ detail: { ctx } }) => {
  const { status } = ctx.response;
  if (status >= 500 && isAct(ctx)) lookAgain("The server had a problem.");
  else if (!isAsked(ctx)) {
    if (status >= 500 && ctx.sourceEvent?.type === "update") remark("The server had a problem. What you see may be old.");
  } else if (status >= 500) remark("The server had a problem. Try again.");
  else if (status === 403) remark("This was refused. Reload the page and try again.");
  else if (status === 404) remark("This is no longer here.");
});

document.addEventListener("htmx:error", ({ detail: { ctx, error } }) => {
  // Given up for a newer request: nothing is wrong.
  if (error?.name === "AbortError" || !ctx || ctx.text !== undefined) return;
  if (isAct(ctx)) lookAgain("The server did not answer.");
  else if (isAsked(ctx)) remark("The server cannot be reached. Try again.");
});

// The socket waits for this file (hx-trigger="ready"): htmx starts as soon as it is
// loaded itself, perhaps before its own extension and before the listeners above.
const socket = document.getElementById("live");
if (socket) {
  htmx.process(socket);
  htmx.trigger(socket, "ready");
} else {
  show("ended"); // a page of history
}
