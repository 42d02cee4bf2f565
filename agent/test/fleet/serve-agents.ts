/**
 * Runs agents of a fleet in a process of its own: `serve-agents.ts <count> <port> <faults> <directory> <alone>`. Sends `ready`, then
 * executes orders, `stop web-5`, and answers each with the same text; the answer to `viewers` is their number.
 */
import { AgentsHost } from './agents-host.ts';
import { planFleet } from './plan.ts';
import { readTlsFiles } from './tls-fixture.ts';

const [count, port, faults, directory = '', alone = ''] = process.argv.slice(2);
const plans = planFleet({
  count: Number(count),
  port: Number(port),
  withFaults: faults === 'yes',
}).filter((plan) => (alone === '' ? !plan.isAlone : plan.id === alone));

const host = new AgentsHost(readTlsFiles(directory), `https://127.0.1.1:${port}`);
process.on('message', (order) => {
  if (order === 'viewers') process.send?.(host.viewers);
  else void host.execute(String(order)).then(() => process.send?.(order));
});
process.once('disconnect', () => process.exit());
await host.start(plans);
process.send?.('ready');
