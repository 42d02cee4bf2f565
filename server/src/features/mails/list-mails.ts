import { parseEmail, type Mail, type MailItem, type mails } from '@latchkey/contract';
import type { Pool } from 'pg';

import { noSuch } from '#server/errors.ts';
import type { Vault } from '#server/lib/vault.ts';

import { selectFrom, type ListSource } from '../lists/list-source.ts';
import { hashAddressUnderAll } from '../suppressions/address-hash.ts';
import {
  findMail,
  isInState,
  isMailed,
  isOfKind,
  listMailedLicenses,
  mailList,
  matchesSearch,
  type MailKey,
  type StoredMail,
} from './queries/mails.ts';
import { explainMail } from './rules/explain-mail.ts';

/** Where the list of mails comes from. */
export function mailSource(deps: {
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'previous'>;
}): ListSource<typeof mails, StoredMail> {
  const filters = {
    kind: isOfKind,
    state: isInState,
    search: (text: string) => matchesSearch(text, hashSearch(deps.vault, text)),
  };
  return { read: selectFrom(deps, mailList, filters, [isMailed]), view: viewMail };
}

function hashSearch(vault: Pick<Vault, 'hashText' | 'previous'>, text: string): string[] {
  return 'fault' in parseEmail(text) ? [] : hashAddressUnderAll(vault, text);
}

/** Converts a mail to an item of the interface. */
function viewMail(mail: StoredMail): MailItem {
  return {
    id: mail.id,
    kind: mail.kind,
    state: mail.state,
    reason: mail.reason,
    recipient: mail.recipient,
    template: mail.template,
    language: mail.language,
    created_at: mail.createdAt.toISOString(),
    sent_at: mail.sentAt?.toISOString() ?? null,
  };
}

/** Shows one mail. @throws noSuch (404) */
export async function showMail({ pool }: { readonly pool: Pool }, id: string): Promise<Mail> {
  const mail = await requireMail({ pool }, id);
  const { transactionId, provider } = mail;
  const licenses =
    transactionId === null || provider === null
      ? []
      : await listMailedLicenses(pool, transactionId, provider);
  return {
    ...viewMail(mail),
    ...explainMail(mail),
    can_resend: mail.kind === 'key' || (mail.kind === 'confirmation' && mail.state !== 'queued'),
    message_id: mail.messageId,
    licenses: licenses.map(({ licenseId, product, keyHint, sent }) => ({
      license_id: licenseId,
      product,
      key_hint: keyHint,
      sent,
    })),
  };
}

/** Finds a mail by its id, such as `key:paddle:txn_1`. @throws noSuch (404) */
export async function requireMail(
  { pool }: { readonly pool: Pool },
  id: string,
): Promise<StoredMail> {
  const key = readId(id);
  const mail = key === null ? null : await findMail(pool, key);
  if (mail === null) throw noSuch('There is no such mail, or it is older than its retention.');
  return mail;
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const KEY_ID = /^key:(?<provider>[a-z]+):(?<transactionId>.+)$/su;
const OWNER_ID = /^owner:[a-z]+-[0-9a-f]{32}$/u;
const CONFIRMATION_ID = new RegExp(`^confirmation:(?<subscriberId>${UUID})$`, 'u');
const OUTREACH_ID = new RegExp(`^outreach:(?<requestId>${UUID}):[0-9]{1,9}$`, 'u');

function readId(id: string): MailKey | null {
  const { provider, transactionId } = KEY_ID.exec(id)?.groups ?? {};
  if (provider !== undefined && transactionId !== undefined) {
    return { kind: 'key', provider, transactionId };
  }
  if (OWNER_ID.test(id)) return { kind: 'owner', id };
  const subscriberId = CONFIRMATION_ID.exec(id)?.groups?.['subscriberId'];
  if (subscriberId !== undefined) return { kind: 'confirmation', subscriberId };
  const requestId = OUTREACH_ID.exec(id)?.groups?.['requestId'];
  return requestId === undefined ? null : { kind: 'outreach', requestId, id };
}
