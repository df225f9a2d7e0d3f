// The main path with a client that was made from the document alone. The compiler checks
// each field that is sent and read; Node runs it against a real server.
import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./api.d.ts";

declare const process: { argv: string[] };
type Problem = components["schemas"]["Problem"];

const [url, key, token] = process.argv.slice(2) as [string, string, string];
const agent = client(key);
const person = client(token);

function client(secret: string): Client<paths> {
  const headers = { Authorization: `Bearer ${secret}` };
  return createClient<paths>({ baseUrl: url, headers });
}

function need<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

async function approve(review: string, note: string): Promise<void> {
  const path = { review };
  const seen = need(await person.GET("/api/v1/reviews/{review}", { params: { path } }));
  const { version, content_digest } = seen;
  const body = { action: "approve", version, content_digest, note } as const;
  const params = { path };
  need(await person.POST("/api/v1/reviews/{review}/ruling", { params, body }));
}

const run = need(await agent.POST("/api/v1/runs", { body: { task: "Fix the test" } }));
const path = { run: run.id };
if (run.budget.tokens.limit === null) throw new Error("The budget was lifted.");

let review: string | undefined;
for (let number = 1; review === undefined && number < 20; number++) {
  const header = { "Idempotency-Key": `${run.id}-${number}` };
  const body = { number, tokens: 100, tool_calls: 1, rework: true };
  const params = { path, header };
  const decision = need(await agent.POST("/api/v1/runs/{run}/steps", { params, body }));
  if (decision.decision === "pause") review = decision.review?.id;
}
if (review === undefined) throw new Error("The run was not paused.");

const early = await agent.POST("/api/v1/runs/{run}/steps", {
  params: { path },
  body: { number: 20, tokens: 1, tool_calls: 0 },
});
const refusal: Problem | undefined = early.error;
if (refusal?.type !== "/problems/run-paused" || refusal.review?.id !== review)
  throw new Error(JSON.stringify(refusal));

const query = { wait: 20, review };
const waiting = agent.GET("/api/v1/runs/{run}/decision", { params: { path, query } });
await approve(review, "Start with the fixtures.");
const ruled = need(await waiting);

const asked = need(
  await agent.POST("/api/v1/runs/{run}/tool-calls", {
    params: { path },
    body: { kind: "command", command: "rm -rf build" },
  }),
);
if (asked.decision !== "require-confirmation" || !asked.review)
  throw new Error(asked.decision);
await approve(asked.review.id, "");

const call = { path: { ...path, call: asked.id } };
const claimed = need(
  await agent.POST("/api/v1/runs/{run}/tool-calls/{call}/claim", {
    params: call,
    body: { digest: asked.digest },
  }),
);
const settled = need(
  await agent.POST("/api/v1/runs/{run}/tool-calls/{call}/result", {
    params: call,
    body: { ok: true, output: "removed", duration_ms: 12 },
  }),
);
const finished = need(
  await agent.POST("/api/v1/runs/{run}/finish", {
    params: { path },
    body: { outcome: "completed", tests: { ran: true, passed: 10 } },
  }),
);
console.log(
  JSON.stringify({
    run: run.id,
    note: ruled.ruling?.note,
    ran: claimed.call["command"],
    settled: settled.ok,
    status: finished.status,
    evaluations: finished.evaluations.map((each) => each.name),
  }),
);
