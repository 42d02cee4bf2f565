import type { Mail, MailItem, MailRowsQuery } from '@latchkey/contract';
import { parseEmail } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import {
  condition,
  queryAllPages,
  queryPage,
  type Condition,
  type ListOrder,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';
import { noSuch } from '#server/errors.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { recordAccess } from '../audit/record-access.ts';
import { hashAddressUnderAll } from '../suppressions/address-hash.ts';
import {
  findMail,
  isInState,
  isMailed,
  listMailedLicenses,
  mailList,
  matchesSearch,
  type MailKey,
  type StoredMail,
} from './queries/mails.ts';
import { explainMail } from './rules/explain-mail.ts';

export interface MailListDependencies {
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly pool: Pool;
  readonly vault: Pick<Vault, 'hashText' | 'previous'>;
}

/** The filters of the list. */
export type MailFilters = Pick<MailRowsQuery, 'kind' | 'search' | 'state'>;

/** Lists the stored mails of all kinds. @throws InvalidPositionError */
export function listMails(
  { pool, vault }: MailListDependencies,
  request: PageRequest,
  filters: MailFilters,
): Promise<Page<StoredMail>> {
  return queryPage(pool, mailList, request, toConditions(vault, filters));
}

/** Reads all mails of a filter, after an audit entry. */
export async function exportMails(
  deps: MailListDependencies & { readonly clock: Clock },
  order: ListOrder,
  filters: MailFilters,
  actor: string,
): Promise<AsyncIterable<StoredMail>> {
  const { kind = null, state = null } = filters;
  await recordAccess(deps, {
    actor,
    action: 'mail.export',
    subjectId: 'mails',
    reason: null,
    details: { kind, state },
  });
  return queryAllPages(deps, mailList, order, toConditions(deps.vault, filters));
}

function toConditions(
  vault: MailListDependencies['vault'],
  { search = '', kind, state }: MailFilters,
): Condition[] {
  return [
    isMailed,
    ...(kind === undefined ? [] : [condition('mail.kind = ?', kind)]),
    ...(state === undefined ? [] : [isInState(state)]),
    ...(search.trim() === '' ? [] : [matchesSearch(search, hashSearch(vault, search.trim()))]),
  ];
}

function hashSearch(vault: MailListDependencies['vault'], search: string): string[] {
  return 'fault' in parseEmail(search) ? [] : hashAddressUnderAll(vault, search);
}

/** Converts a mail to an item of the interface. */
export function viewMail(mail: StoredMail): MailItem {
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
