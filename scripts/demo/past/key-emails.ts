import { createMessageToken } from '#server/features/key-emails/send-key-email.ts';

import { decideAcceptance } from '../local/mail-rules.ts';
import { SHOPS } from '../payments/shops.ts';
import type { PlannedSale } from '../world/plan.ts';
import { JOB_DELAY_MS } from './jobs.ts';
import { DELAY_MS } from './payments.ts';
import type { World } from './world.ts';

interface JobPayload {
  readonly provider: string;
  readonly transactionId: string;
}

/** Records the e-mails with the keys of purchases as sent or refused at once, instead of sending one after the other. */
export async function recordKeyEmails(world: World, sales: readonly PlannedSale[]): Promise<void> {
  const saleOf = new Map(
    sales.flatMap((planned) =>
      SHOPS[planned.sale.provider]
        .listTransactionIds(planned.sale)
        .map((transactionId) => [transactionId, planned] as const),
    ),
  );
  const { pool } = world.context;
  const { rows } = await pool.query<{ readonly payload: JobPayload }>(TAKE_JOBS, [
    [...saleOf.keys()],
  ]);
  const emails = rows.flatMap(({ payload }) => {
    const planned = saleOf.get(payload.transactionId);
    return planned === undefined ? [] : [describeEmail(world, planned, payload)];
  });
  await pool.query(INSERT_EMAILS, [JSON.stringify(emails)]);
}

function describeEmail(
  { context, licenses }: World,
  planned: PlannedSale,
  { provider, transactionId }: JobPayload,
) {
  const { person, sale } = planned;
  const email = person.email.toLowerCase();
  const ids = (licenses.get(planned) ?? []).map(({ id }) => id);
  const at = new Date(sale.at.getTime() + DELAY_MS + JOB_DELAY_MS);
  const token = createMessageToken(context, 'key', [provider, transactionId, ids, at]);
  const outcome =
    decideAcceptance(email) === 'unknown_user'
      ? { state: 'refused', reason: 'smtp_550', license_ids: [], message_id: null, sent_at: null }
      : {
          state: 'sent',
          reason: null,
          license_ids: ids,
          message_id: `<${token}@contour.example>`,
          sent_at: at,
        };
  return {
    transaction_id: transactionId,
    provider,
    address_hash: context.vault.hashText('email', email),
    created_at: at,
    claimed_at: at,
    ...outcome,
  };
}

const TAKE_JOBS = `
  delete from jobs where name = 'send_key_email' and payload ->> 'transactionId' = any ($1)
  returning payload`;

const INSERT_EMAILS = `
  insert into key_emails select * from jsonb_populate_recordset(null::key_emails, $1::jsonb)
  on conflict do nothing`;
