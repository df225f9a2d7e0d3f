// Judges each line of standard input, {"command", "rounds"}, with the peer's own gate
// and answers {"caught", "seconds"}, the best of the rounds.
// node peer.mjs <folder of the package>
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { EnforcementGates } = await import(pathToFileURL(`${process.argv[2]}/dist/gates.js`));
const gates = new EnforcementGates();

for await (const line of createInterface({ input: process.stdin })) {
  const { command, rounds } = JSON.parse(line);
  let found = null;
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const began = process.hrtime.bigint();
    found = gates.evaluateDestructiveOps(command);
    best = Math.min(best, Number(process.hrtime.bigint() - began) / 1e9);
  }
  console.log(JSON.stringify({ caught: found !== null, seconds: best }));
}
