// Posts bodies of the given sizes with Node's fetch, as Claude Code's HTTP hooks do.
// node post_bodies.mjs URL KEY TRIES BYTES...   One line of JSON for each try.
const [url, key, tries, ...sizes] = process.argv.slice(2);
const headers = { "Content-Type": "application/json" };
if (key) headers.Authorization = `Bearer ${key}`;

for (const size of sizes.map(Number)) {
  const event = {
    session_id: "s",
    hook_event_name: "PreToolUse",
    tool_name: "Write",
    tool_use_id: "toolu_1",
    tool_input: { file_path: "/etc/passwd", content: "x".repeat(size) },
  };
  const body = JSON.stringify(event);
  for (let number = 0; number < Number(tries); number++) {
    let said;
    try {
      const answer = await fetch(url, { method: "POST", headers, body });
      said = { status: answer.status, document: await answer.json() };
    } catch (error) {
      said = { error: String(error.cause?.code ?? error.cause ?? error) };
    }
    console.log(JSON.stringify({ size, ...said }));
  }
}
