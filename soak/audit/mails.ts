/** Compares the mails that the relay accepted with what the service reported. */
import { RECIPIENTS_OF_A_REQUEST } from '../ledger/ledger.ts';
import { createCheck, type Check } from './check.ts';
import { listAcknowledged, readRow, type AuditOptions } from './compare.ts';
import { countUnexplained } from './job-losses.ts';
import * as statements from './statements.ts';

export async function checkKeyMails({ jobLosses, ledger, pool }: AuditOptions): Promise<Check> {
  const { keyMails, keys, payments } = ledger;
  const { counts, different, repeatedFrom } = keyMails;
  const paid = listAcknowledged(payments, Array.from(counts.keys()));
  const missing = paid.filter((index) => counts[index] === 0).length;
  const wrong = paid.filter((index) => isWrong(keyMails.keyOf(index), keys.get(index))).length;
  const unexplained = countUnexplained(repeatedFrom, jobLosses);
  const explained = repeatedFrom.length - unexplained;
  const { unsent = 0 } = (await readRow(pool, statements.countKeyEmails)) ?? {};
  const promise =
    explained === 0
      ? 'Every buyer receives one e-mail with the key'
      : `Every buyer receives one e-mail with the key; ${explained} arrived twice, because a fault lost that they were sent`;
  return createCheck(promise, { planned: payments.size, compared: keyMails.total }, [
    [missing, 'buyers received no e-mail'],
    [wrong, 'buyers received an e-mail with another key than their page'],
    [different, 'buyers received two e-mails with different keys'],
    [unexplained, 'e-mails arrived twice without a fault that explains it'],
    [unsent, 'e-mails with keys are not recorded as sent'],
  ]);
}

const isWrong = (mailed: string | null, shown: string | null): boolean =>
  mailed !== null && shown !== null && mailed !== shown;

export async function checkOutreach({ ledger, pool }: AuditOptions): Promise<Check> {
  const { outreach, outreachMails, outreachNotSent, outreachRequests } = ledger;
  const planned = Array.from(outreachMails.keys());
  const all = planned.filter((index) =>
    outreachRequests.isSent(Math.floor(index / RECIPIENTS_OF_A_REQUEST)),
  );
  const arrived = (index: number): boolean => (outreachMails[index] ?? 0) > 0;
  const isAnswered = (index: number): boolean =>
    outreach.isPossible(index) || outreachNotSent.isAcknowledged(index);
  const sent = listAcknowledged(outreach, all);
  const repeated = all.filter((index) => (outreachMails[index] ?? 0) > 1);
  const surplus = listAcknowledged(outreachNotSent, all).filter(arrived);
  const stored = (await readRow(pool, statements.countOutreach)) ?? { messages: 0, sent: 0 };
  return createCheck(
    'No outreach message is sent twice, and those reported as sent were, others not',
    { planned: planned.length, compared: sent.length },
    [
      [all.filter((index) => !isAnswered(index)).length, 'messages were never answered'],
      [
        sent.filter((index) => !arrived(index)).length,
        'messages that were reported as sent did not reach the relay',
      ],
      [surplus.length, 'messages that were reported as not sent reached the relay'],
      [repeated.length, 'messages were sent twice'],
      [Math.abs(stored.messages - all.length), 'messages are not stored, or stored twice'],
      [
        Math.max(0, stored.sent - sent.length),
        'messages are stored as sent that were not reported so',
      ],
    ],
  );
}
