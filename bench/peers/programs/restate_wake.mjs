// Restate: handlers that wait for an awakeable, resolved over HTTP by whoever has its id.
import { spawn } from "node:child_process";
import * as restate from "@restatedev/restate-sdk";

// Node 20 has none yet.
Promise.withResolvers ??= function () {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const [waiters, ruled, rate] = process.argv.slice(2).map(Number);
const folder = process.env.PEER_FOLDER;
const [ingress, admin, node, own] = [18080, 19070, 15122, 19080];
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const ids = new Map();
const awake = new Map();

const waiter = restate.service({
  name: "waiter",
  handlers: {
    wait: async (ctx, name) => {
      const { id, promise } = ctx.awakeable();
      ids.set(name, id);
      await promise;
      awake.set(name, performance.now());
    },
  },
});

async function post(url, body) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

async function until(what) {
  for (let tries = 0; tries < 600; tries++) {
    if (await what()) return;
    await sleep(100);
  }
  throw new Error("It never came.");
}

const server = spawn("./node_modules/.bin/restate-server", ["--base-dir", `${folder}/restate`], {
  env: {
    ...process.env,
    RUST_LOG: "error",
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    DO_NOT_TRACK: "1",
  },
  stdio: ["ignore", "ignore", "inherit"],
  detached: true, // it starts a program of its own
});
process.on("exit", () => process.kill(-server.pid, "SIGKILL"));
await restate.serve({ services: [waiter], port: own });
await until(() => fetch(`http://127.0.0.1:${admin}/health`).then((a) => a.ok, () => false));
await until(() =>
  post(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${own}` }).then(() => true, () => false),
);
for (let n = 0; n < waiters; n++) await post(`http://127.0.0.1:${ingress}/waiter/wait/send`, String(n));
await until(() => ids.size === waiters);
await sleep(2000);
const seconds = [];
for (let n = 0; n < ruled; n++) {
  const name = String(n);
  const sent = performance.now();
  await post(`http://127.0.0.1:${ingress}/restate/awakeables/${ids.get(name)}/resolve`, "approve");
  while (!awake.has(name)) await sleep(0);
  seconds.push((awake.get(name) - sent) / 1000);
  await sleep(1000 / rate);
}
console.log(JSON.stringify(seconds));

process.exit(0);
