/**
 * Runs beside a starting service (ExecStartPost), and ends with 0 when it is ready for requests, so that `systemctl start` and upgrades
 * report a failed start. It ends with 1 when the service ($MAINPID) has ended. A migration may take longer than the limit:
 * then this ends with 0, and the service goes on.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** systemd ends the start after 90 s. */
const LIMIT_MS = 60_000;

/** Blank settings count as absent. */
const readSetting = (name) => (process.env[name] ?? '').trim();
const host = readSetting('LATCHKEY_HOST') || '127.0.0.1';
const port = readSetting('LATCHKEY_PORT') || readSetting('PORT') || '8080';
const ANY_ADDRESS = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

const deadline = Date.now() + LIMIT_MS;
for (;;) {
  const ready = await isReady();
  // Another program may answer on the port of a service that could not listen.
  if (!isRunning()) {
    process.stderr.write('The service ended during its start.\n');
    process.exit(1);
  }
  if (ready) break;
  if (Date.now() > deadline) {
    process.stderr.write(
      `The service is not ready after ${LIMIT_MS / 1000} s; it continues to start.\n`,
    );
    break;
  }
  await sleep(200);
}

async function isReady() {
  const address = ANY_ADDRESS[host] ?? host.replace(/^.*:.*$/, '[$&]');
  try {
    const url = `http://${address}:${port}/api/v1/health/ready`;
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}

function isRunning() {
  try {
    return process.kill(Number(process.env['MAINPID']), 0);
  } catch {
    return false;
  }
}
