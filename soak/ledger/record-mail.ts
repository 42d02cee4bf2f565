import { readParts } from '../../server/test/mail-relay.ts';
import { readMailNumber } from '../load/actors/mails.ts';
import type { Ledger } from './ledger.ts';

/** A license key in a text. */
const KEY = /\b[\dA-Z]{1,8}(?:-[\dA-Z]{5}){5}\b/gu;

/** A recipient of a message that the relay accepted. */
export interface AcceptedMail {
  readonly address: string;
  /** The message as received. */
  readonly raw: string;
  /** `performance.now()` */
  readonly acceptedAt: number;
}

/** Records a message to a buyer or to a recipient of outreach. */
export function recordMail(
  { keyMails, outreachMails }: Pick<Ledger, 'keyMails' | 'outreachMails'>,
  { acceptedAt, address, raw }: AcceptedMail,
): void {
  const { kind, number } = readMailNumber(address);
  if (kind === 'buyer') keyMails.record(number, listKeys(raw), acceptedAt);
  else if (kind === 'reader') outreachMails[number] = (outreachMails[number] ?? 0) + 1;
}

/** Lists the different keys of a message: its parts show the same ones. */
function listKeys(raw: string): string[] {
  return [...new Set(readParts({ raw }).match(KEY))];
}
