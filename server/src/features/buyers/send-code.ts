import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Vault } from '#server/lib/vault.ts';
import type { MailTransport, SendResult } from '#server/mail/mail-transport.ts';

import { recordOwnerEmail } from '../key-emails/owner-email-queries.ts';
import { isSameAddress } from '../key-emails/send-key-email.ts';
import { nameSender, type SenderSettings } from '../suppressions/page-frame.ts';
import { codeLabel } from './codes.ts';
import { renderCodeMail } from './mails/code-mail.ts';
import { findCode } from './queries/codes.ts';
import { listSpellings } from './queries/own-licenses.ts';
import { deriveCode, formatCode } from './rules/code.ts';

export interface CodeMailDependencies extends SenderSettings {
  readonly clock: Clock;
  readonly mail: MailTransport | null;
  readonly metrics: { countMail(mail: string, outcome: SendResult['outcome']): void };
  readonly pool: Pool;
  readonly vault: Vault;
}

const TOKEN_DIGITS = 32;

/** More than an address has in licenses. */
const MAX_SPELLINGS = 20;

/**
 * Mails a code, unless no license has the address or the code has expired. Retries send the same code and Message-ID. The
 * e-mail goes to the address of the license and never to the entered text, which could name another mailbox.
 * @throws Error when the relay may accept the e-mail later
 */
export async function sendCode(
  deps: CodeMailDependencies,
  { tokenHash }: { readonly tokenHash: string },
  signal?: AbortSignal,
): Promise<void> {
  const { clock, mail, metrics, pool, vault } = deps;
  const code = await findCode(pool, tokenHash, clock.now());
  if (code === null || mail === null) return;
  const entered = vault.open(code.emailSealed, codeLabel(tokenHash));
  const spellings = await listSpellings(pool, entered, MAX_SPELLINGS);
  const email = spellings.find((each) => isSameAddress(each, entered));
  if (email === undefined) return;
  const text = formatCode(deriveCode(vault, tokenHash));
  const message = {
    ...renderCodeMail(code.language, { sender: nameSender(deps), code: text, email }),
    to: { address: email, name: null },
    messageToken: `code-${vault.hashText('code-mail', tokenHash).slice(-TOKEN_DIGITS)}`,
    headers: { 'Content-Language': code.language },
  };
  const result = await mail.send(message, signal);
  const { messageToken } = message;
  const sent = { messageToken, template: 'buyer_code', language: code.language, email } as const;
  await recordOwnerEmail(pool, sent, result, true, clock.now());
  metrics.countMail('buyer_code', result.outcome);
  if (result.outcome === 'temporary') {
    throw new Error(`mail relay did not accept the e-mail: ${result.reason}`);
  }
}
