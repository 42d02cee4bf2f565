/**
 * Connects many viewers to an agent, counts their snapshots (or points) for some seconds, and sends the result to the parent
 * process: `crowd.ts <port> <viewers> <seconds> <subprotocol>`.
 */
import { WebSocket } from 'ws';

import type { CrowdResult } from './crowd-result.ts';

/** Viewers that connect concurrently: more would only wait for handshakes. */
const CONNECTING_AT_ONCE = 50;

/** A thousand brief viewers take turns, and get a message every four seconds. */
const TURNS = 4;

/** Enough for the type of a message and the time of a snapshot. */
const START_BYTES = 100;

const TIME = /"time":"(?<time>[^"]{24})"/g;

/** The time at which the last viewer received each snapshot, by the snapshot's time. */
interface Arrivals {
  count: number;
  lastAt: number;
}

const [port, viewers, seconds] = process.argv.slice(2, 5).map(Number);
const subprotocol = process.argv[5];
if (
  port === undefined ||
  viewers === undefined ||
  seconds === undefined ||
  subprotocol === undefined
) {
  throw new Error('Usage: crowd.ts <port> <viewers> <seconds> <subprotocol>');
}
const arrivals = new Map<string, Arrivals>();
for (let open = 0; open < viewers; open += CONNECTING_AT_ONCE) {
  const some = Math.min(CONNECTING_AT_ONCE, viewers - open);
  await Promise.all(Array.from({ length: some }, () => connect(port, subprotocol)));
}
arrivals.clear();
process.send?.('ready');
await new Promise((resolve) => setTimeout(resolve, 1000 * (seconds + 2 * TURNS)));
// Not all viewers may have received the first and the last snapshots.
const whole = [...arrivals].slice(TURNS, seconds + TURNS);
const result: CrowdResult = {
  lastMs: whole.map(([time, { lastAt }]) => lastAt - Date.parse(time)),
  missed: whole.reduce((sum, [, { count }]) => sum + viewers - count, 0),
};
process.send?.(result);
process.disconnect();
process.exit();

async function connect(toPort: number, offer: string): Promise<void> {
  const options = { rejectUnauthorized: false };
  const socket = new WebSocket(`wss://127.0.0.1:${toPort}/`, offer, options);
  socket.on('message', (data: Buffer) => note(data));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
}

/** Finds only the times, because parsing each snapshot a thousand times would be measured, too. */
function note(data: Buffer): void {
  const start = data.toString('latin1', 0, START_BYTES);
  if (start.startsWith('{"type":"hello"')) return;
  const isBrief = start.startsWith('{"type":"points"');
  const text = isBrief ? data.toString('latin1') : start;
  for (const { groups } of text.matchAll(TIME)) {
    const time = groups?.['time'] ?? '';
    const seen = arrivals.get(time) ?? { count: 0, lastAt: 0 };
    seen.count += 1;
    seen.lastAt = Date.now();
    arrivals.set(time, seen);
  }
}
