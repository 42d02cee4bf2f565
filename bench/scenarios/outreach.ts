import { startMailRelay } from '../../server/test/mail-relay.ts';
import { startServiceProcess, type ServiceProcess } from '../lib/processes.ts';
import { median, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

/** The maximum of a request. */
const RECIPIENTS = 500;

const GOAL_MS = 2_000;

const API_KEY = 'an-outreach-key-for-the-bench-alone';

/**
 * Measures one request with the maximum number of recipients, without DKIM, through a relay in this process that
 * accepts all.
 */
export async function measureOutreach(dataDirectory: string, scale: Scale): Promise<Measurement[]> {
  const relay = await startMailRelay();
  const service = await startServiceProcess(dataDirectory, {
    LATCHKEY_SMTP_URL: relay.url,
    LATCHKEY_MAIL_FROM: 'Example Shop <shop@example.com>',
    LATCHKEY_OUTREACH_API_KEY: API_KEY,
  });
  try {
    await sendOutreach(service, 'warm-up', 5);
    const rounds: number[] = [];
    for (let round = 0; round < scale.outreachRounds; round++) {
      const startedAt = performance.now();
      await sendOutreach(service, `round-${round}`, RECIPIENTS);
      rounds.push(performance.now() - startedAt);
    }
    const name = `messages to ${RECIPIENTS} recipients of one request`;
    return [{ name, value: median(rounds), unit: 'ms', goal: { atMost: GOAL_MS } }];
  } finally {
    await service.stop();
    await relay.close();
  }
}

async function sendOutreach(
  { target }: ServiceProcess,
  name: string,
  count: number,
): Promise<void> {
  const recipients = Array.from({ length: count }, (_, index) => ({
    email: `${name}-${index}@example.org`,
    name: `Person ${index}`,
  }));
  const response = await fetch(`http://${target.host}:${target.port}/api/v1/outreach/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
    body: JSON.stringify({ template: 'personal', recipients }),
  });
  const { sent }: { sent?: unknown } = Object(await response.json());
  if (sent !== count) throw new Error(`${String(sent)} of ${count} messages were sent`);
}
