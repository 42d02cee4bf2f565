import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import {
  countUnsentKeyEmails,
  type UnsentKeyEmails,
} from '#server/features/billing/key-emails/backlog-queries.ts';
import { countUnmailed } from '#server/features/subscribers/queries/subscribers.ts';
import { checkRelay } from '#server/mail/relay.ts';

import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'mail';

type MailSecrets = Pick<Secrets, 'smtpUrl' | 'paddleApiKey'>;

/**
 * Whether buyers get their keys by e-mail: whether the relay lets us in, for which nothing is sent, and what waits. The
 * database has been migrated.
 */
export async function checkMail(
  pool: Pool,
  { mail }: Pick<Config, 'mail'>,
  secrets: MailSecrets,
): Promise<Finding[]> {
  const { smtpUrl } = secrets;
  const unsent = await countUnsentKeyEmails(pool);
  const findings = [
    ...(smtpUrl === null ? explainNoMail(unsent) : await examineRelay(smtpUrl)),
    ...explainNoAddress(unsent, secrets),
    ...explainRefused(unsent),
  ];
  if (findings.length > 0) return findings;
  if (smtpUrl === null) return [ok(CHECK, 'Not configured; no e-mail waits.')];
  return [ok(CHECK, `From ${mail.from}; the relay lets us in, and no e-mail waits.`)];
}

const FIX = 'Check LATCHKEY_SMTP_URL (host, port, user, password) and the firewall';
const FIX_TLS =
  'Name in LATCHKEY_SMTP_URL the host that the certificate of the relay is for, and smtps:// for a port that begins with TLS (465), smtp:// for another; the certificate must be valid, and NODE_EXTRA_CA_CERTS names a file with an authority of your own';

async function examineRelay(smtpUrl: string): Promise<Finding[]> {
  const failure = await checkRelay(smtpUrl);
  if (failure === null) return [];
  const { reason, reply } = failure;
  return [
    warning(CHECK, {
      symptom: 'The mail relay cannot be used: no e-mail is sent.',
      cause: reply === null ? `It failed: ${reason}.` : `It failed: ${reason}. It says: ${reply}`,
      fix: `${reason === 'tls' ? FIX_TLS : FIX}; what waits is sent by itself then.`,
    }),
  ];
}

function explainNoMail({ noMail }: UnsentKeyEmails): Finding[] {
  if (noMail === 0) return [];
  return [
    warning(CHECK, {
      symptom: `E-mails with keys that wait: ${noMail}. Their buyers have no e-mail yet.`,
      cause: 'No mail is configured.',
      fix: 'Set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM and start the service again: what waits is sent then.',
    }),
  ];
}

function explainNoAddress(
  { noAddress }: UnsentKeyEmails,
  { paddleApiKey }: MailSecrets,
): Finding[] {
  if (noAddress === 0) return [];
  return [
    warning(CHECK, {
      symptom: `E-mails with keys that wait for an address: ${noAddress}.`,
      cause: 'No event has told an address of their buyers that can be used.',
      fix:
        paddleApiKey === null
          ? 'Send customer events to the webhook too; for Paddle, set LATCHKEY_PADDLE_API_KEY and start the service again: they are looked up then.'
          : 'Send customer events to the webhook too; latchkey jobs list shows look-ups that failed, and a start of the service looks up again.',
    }),
  ];
}

function explainRefused({ refused, unconfirmed }: UnsentKeyEmails): Finding[] {
  const findings: Finding[] = [];
  if (refused > 0) {
    findings.push(
      warning(CHECK, {
        symptom: `E-mails with keys that were refused for good: ${refused}.`,
        cause: 'The mail relay does not take their addresses, or what they say.',
        fix: 'An address is corrected at the payment provider, whose event sends the e-mail again. When the relay was at fault: latchkey mail resend --refused.',
      }),
    );
  }
  if (unconfirmed > 0) {
    findings.push(
      warning(CHECK, {
        symptom: `E-mails with keys that may not have arrived: ${unconfirmed}.`,
        cause: 'The mail relay got each twice, and did not say in time whether it takes it.',
        fix: "The relay's log says what became of them. When it is quicker: latchkey mail resend --unconfirmed.",
      }),
    );
  }
  return findings;
}

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
