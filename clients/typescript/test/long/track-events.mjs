// Tracks and sends events until it is killed, and prints each event that is kept.
import { setTimeout as sleep } from 'node:timers/promises';

const [module, options, run] = process.argv.slice(2);
const { Latchkey } = await import(module);
const latchkey = await Latchkey.open(JSON.parse(options));
await latchkey.setSharing(true);
for (let count = 0; ; count += 1) {
  const name = `${run}.${count}`;
  latchkey.track('tracked', { name });
  process.stdout.write(`${name}\n`);
  if (count % 5 === 0) void latchkey.flush();
  if (count % 3 === 0) await sleep(1);
}
