// Sharing reviews: a dialog whose form was taken closes; what it held is in the ledger.

document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
  const dialog = ctx.sourceElement?.closest?.("dialog[data-closes-when-sent]");
  if (dialog && ctx.response?.status === 200) dialog.close();
});

// An answer to a comment is written in the one field for notes: it says to whom.
function reply(code, name) {
  const field = document.querySelector("#dock [name=reply_to]");
  field.value = code;
  const hint = document.getElementById("replying");
  hint.hidden = !code;
  hint.querySelector("span").textContent = `Your note answers ${name}.`;
  if (!code) return;
  // On a phone the button that adds the note stands behind "More".
  if (!("dockMore" in document.body.dataset)) document.querySelector("[data-dock-toggle]").click();
  document.querySelector("#dock textarea[name=text]").focus();
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-reply]");
  if (button) reply(button.dataset.reply, button.dataset.replyName);
});
document.addEventListener("sent", () => document.getElementById("replying") && reply("", ""));

// Rows are the same for everybody: each screen marks those that mention its viewer.
function markMentions() {
  const { viewer } = document.body.dataset;
  const shown = document.querySelector("#detail[data-code]")?.dataset.code;
  for (const mark of document.querySelectorAll("#queue [data-mentioned]")) {
    const named = mark.dataset.mentioned.split(" ").includes(viewer);
    if (mark.closest("li").id === `review-${shown}` && !document.hidden) mark.dataset.mentioned = "";
    mark.hidden = !named || !mark.dataset.mentioned;
  }
}

for (const name of ["htmx:after:swap", "rows:changed"]) document.addEventListener(name, markMentions);
markMentions();
