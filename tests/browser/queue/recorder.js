// Put into the page by a test: what was on screen at each key press or click, what was
// sent because of it, and a network on which every answer takes its own time.
(seed) => {
  let state = seed;
  const random = () => (state = (state * 1664525 + 1013904223) % 4294967296) / 4294967296;
  const wait = () => new Promise((done) => setTimeout(done, random() < 0.6 ? 0 : random() * 300));
  const log = { sent: [], alarms: 0, said: 0 };
  let input = null;

  const screen = () => {
    const pane = document.querySelector("#detail[data-code]");
    const value = (name) => pane?.querySelector(`#dock [name=${name}]`)?.value ?? null;
    return {
      code: pane?.dataset.code ?? null,
      digest: value("content_digest"),
      version: value("version"),
      row: document.querySelector("#queue li:not([data-gone]) [aria-current]")?.dataset.openRow ?? null,
      focus: document.activeElement?.dataset.openRow ?? null,
    };
  };
  const note = (event) => { if (event.isTrusted) input = screen(); };
  addEventListener("keydown", note, true);
  addEventListener("click", note, true);

  const toast = document.getElementById("toast");
  new MutationObserver(() => {
    if (toast.textContent.includes("Still loading")) log.said += 1;
    if (toast.textContent.includes("cannot be reached")) log.alarms += 1;
  }).observe(toast, { subtree: true, childList: true, characterData: true });

  const real = window.fetch.bind(window);
  window.fetch = async (url, options = {}) => {
    if (String(url).endsWith("/rule/")) {
      const body = options.body;
      const [code] = String(url).split("/").slice(-3);
      log.sent.push({
        input, code, digest: body.get("content_digest"), version: body.get("version"), action: body.get("action"),
      });
    }
    await wait();
    const answer = await real(url, options);
    await wait();
    return answer;
  };
  window.recorded = log;
}
