/** Checks of doctor: e-mails with keys, and confirmation e-mails of subscribers. */
import type { Pool } from 'pg';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { countUnsentKeyEmails, type UnsentKeyEmails } from '../key-emails/backlog-queries.ts';
import { countUnmailed } from '../subscribers/queries/subscribers.ts';
import { checkRelay, type RelayFailure } from '#server/mail/relay.ts';

import { type Finding, ok, warning, warningIf } from './finding.ts';
import { fixTls } from './fix-tls.ts';

const MAIL = 'mail';

type MailSecrets = Pick<Secrets, 'smtpUrl' | 'paddleApiKey'>;

/** Checks that the mail relay accepts a login, without sending anything, and that no e-mail with keys waits. */
export async function checkMail(
  pool: Pool,
  { mail }: Pick<Config, 'mail'>,
  secrets: MailSecrets,
): Promise<Finding[]> {
  const { smtpUrl } = secrets;
  const problems = [
    ...(smtpUrl === null ? [] : await checkLogin(smtpUrl)),
    ...reportUnsent(await countUnsentKeyEmails(pool), secrets),
  ];
  if (problems.length > 0) return problems;
  if (smtpUrl === null) return [ok(MAIL, 'Not configured; no e-mail is waiting.')];
  return [ok(MAIL, `From ${mail.from}; the relay accepts the login, and no e-mail is waiting.`)];
}

const FIX = 'Check LATCHKEY_SMTP_URL (host, port, user, password) and the firewall.';
const SCHEME =
  'Set LATCHKEY_SMTP_URL to smtps:// for a port that starts with TLS (465), and to smtp:// for other ports.';

async function checkLogin(smtpUrl: string): Promise<Finding[]> {
  const failure = await checkRelay(smtpUrl);
  if (failure === null) return [];
  const { reason, reply, tls } = failure;
  return [
    warning(MAIL, {
      code: 'mail.relay_unusable',
      symptom: 'No e-mail is sent, since the mail relay cannot be used.',
      cause: describeFailure(failure),
      fix: `${tls === null ? FIX : fixTls(tls, 'LATCHKEY_SMTP_URL', SCHEME)} Waiting e-mails are then sent automatically.`,
      facts: { reason, reply, ...(tls === null ? {} : { tls: tls.kind }) },
    }),
  ];
}

function describeFailure({ reason, reply, tls }: RelayFailure): string {
  if (tls !== null) return `The relay ${tls.problem}.`;
  return reply === null ? `Error: ${reason}.` : `Error: ${reason}. Its reply: ${reply}`;
}

function reportUnsent(
  { noMail, noAddress, refused, unconfirmed }: UnsentKeyEmails,
  { smtpUrl, paddleApiKey }: MailSecrets,
): Finding[] {
  return [
    ...warningIf(noMail > 0 && smtpUrl === null, MAIL, {
      code: 'key_emails.no_mail',
      symptom: `E-mails with keys waiting for a mail configuration: ${noMail}.`,
      cause: 'Mail is not configured.',
      fix: 'Set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, and restart the service, which then sends them.',
      facts: { emails: noMail },
    }),
    ...warningIf(noAddress > 0, MAIL, {
      code: 'key_emails.no_address',
      symptom: `E-mails with keys waiting for an address: ${noAddress}.`,
      cause: 'No event contained a valid address of these buyers.',
      fix:
        paddleApiKey === null
          ? 'Also send customer events to the webhook. For Paddle, set LATCHKEY_PADDLE_API_KEY and restart the service, which then looks them up.'
          : 'Also send customer events to the webhook. latchkey jobs list shows failed look-ups; a restart of the service repeats them.',
      facts: { emails: noAddress },
    }),
    ...warningIf(refused > 0, MAIL, {
      code: 'key_emails.refused',
      symptom: `E-mails with keys refused permanently: ${refused}.`,
      cause: 'The mail relay rejects their addresses or their content.',
      fix: 'Correct the address at the payment provider, whose event sends the e-mail again. If the relay was the cause: latchkey mail resend --refused.',
      facts: { emails: refused },
    }),
    ...warningIf(unconfirmed > 0, MAIL, {
      code: 'key_emails.unconfirmed',
      symptom: `E-mails with keys whose delivery is unknown: ${unconfirmed}.`,
      cause: 'The mail relay received each twice and did not confirm it within the timeout.',
      fix: 'The log of the relay shows what happened to them. If it did not accept them: latchkey mail resend --unconfirmed.',
      facts: { emails: unconfirmed },
    }),
  ];
}

/** A running service sends a confirmation e-mail within this time. */
const SEND_TIMEOUT_MS = 15 * 60_000;

/** Checks that new subscribers were asked for confirmation; returns no finding if they were. */
export async function checkSubscribers(
  pool: Pool,
  { subscribers }: Pick<Config, 'subscribers'>,
  { smtpUrl }: Pick<Secrets, 'smtpUrl'>,
  now: Date,
): Promise<Finding[]> {
  if (!subscribers.doubleOptIn) return [];
  const asked = new Date(now.getTime() - SEND_TIMEOUT_MS);
  const { count, problem } = await countUnmailed(pool, asked);
  return warningIf(count > 0, 'subscribers', {
    code: 'subscribers.confirmation_not_sent',
    symptom: `Subscribers without a confirmation e-mail: ${count}.`,
    cause: describeCause(problem, smtpUrl === null),
    fix: 'Correct the mail configuration and start the service, then run latchkey jobs retry --all for failed jobs.',
    facts: { subscribers: count, configured: smtpUrl !== null, problem },
  });
}

function describeCause(problem: string | null, noMail: boolean): string {
  if (noMail) return 'Mail is not configured: LATCHKEY_SMTP_URL is not set.';
  if (problem === null) return 'The service does not run, or its jobs fail.';
  return `The mail relay did not accept it: ${problem}.`;
}
