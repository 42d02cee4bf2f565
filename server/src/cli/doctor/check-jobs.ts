import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { countUnsentKeyEmails } from '#server/features/billing/key-emails/waiting-queries.ts';
import { countJobs } from '#server/jobs/queries.ts';

import { type Finding, ok, warning } from './finding.ts';

/** Whether work of the service's own was given up; the database has been migrated. */
export async function checkJobs(pool: Pool): Promise<Finding> {
  const check = 'jobs';
  const { open, givenUp } = await countJobs(pool);
  if (givenUp === 0) return ok(check, `${open} to be done, none given up.`);
  return warning(check, {
    symptom: `Jobs were given up: ${givenUp}. What they should have done was not done.`,
    cause: 'Each was tried as often as it may be, in vain; latchkey jobs list says why.',
    fix: 'Remove the cause, then latchkey jobs retry --all.',
  });
}

/** Whether buyers get their keys by e-mail; the database has been migrated. */
export async function checkMail(
  pool: Pool,
  { mail }: Pick<Config, 'mail'>,
  { smtpUrl, paddleApiKey }: Pick<Secrets, 'smtpUrl' | 'paddleApiKey'>,
): Promise<Finding[]> {
  const check = 'mail';
  const { noAddress, noMail, refused } = await countUnsentKeyEmails(pool);
  const findings: Finding[] = [];
  if (smtpUrl === null) {
    if (noMail === 0) return [ok(check, 'Not configured; no e-mail waits.')];
    findings.push(
      warning(check, {
        symptom: `E-mails with keys that wait: ${noMail}. Their buyers have no e-mail yet.`,
        cause: 'No mail is configured.',
        fix: 'Set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM and start the service again: what waits is sent then.',
      }),
    );
  }
  if (noAddress > 0) {
    findings.push(
      warning(check, {
        symptom: `E-mails with keys that wait for an address: ${noAddress}.`,
        cause: 'No event has told the address of their buyers.',
        fix:
          paddleApiKey === null
            ? 'Send customer events to the webhook too; for Paddle, LATCHKEY_PADDLE_API_KEY lets it be looked up.'
            : 'Send customer events to the webhook too; latchkey jobs list shows look-ups that failed.',
      }),
    );
  }
  if (refused > 0) {
    findings.push(
      warning(check, {
        symptom: `E-mails with keys that were refused for good: ${refused}.`,
        cause: 'The mail relay does not take their addresses, or what they say.',
        fix: 'Correct the address at the payment provider: the e-mail is sent again with its event.',
      }),
    );
  }
  return findings.length > 0 ? findings : [ok(check, `From ${mail.from}; no e-mail waits.`)];
}
