import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { countUnmailed } from '#server/features/subscribers/queries/subscribers.ts';

import { type Finding, warning } from './finding.ts';

/** Long enough for a mail to be sent by a service that runs. */
const PATIENCE_MS = 15 * 60_000;

/** Whether new subscribers were asked to confirm; says nothing when all were. The database has been migrated. */
export async function checkSubscribers(
  pool: Pool,
  { subscribers }: Pick<Config, 'subscribers'>,
  { smtpUrl }: Pick<Secrets, 'smtpUrl'>,
): Promise<Finding[]> {
  if (!subscribers.doubleOptIn) return [];
  const { count, problem } = await countUnmailed(pool, new Date(Date.now() - PATIENCE_MS));
  if (count === 0) return [];
  return [
    warning('subscribers', {
      symptom: `Subscribers who wait for the e-mail that asks them to confirm: ${count}.`,
      cause: explain(problem, smtpUrl === null),
      fix: 'Put mail right, start the service, then latchkey jobs retry --all for what was given up.',
    }),
  ];
}

function explain(problem: string | null, noMail: boolean): string {
  if (noMail) return 'No mail is configured any more: LATCHKEY_SMTP_URL is not set.';
  if (problem === null) return 'The service has not come to it: it does not run, or its jobs fail.';
  return `The mail relay did not take it: ${problem}.`;
}
