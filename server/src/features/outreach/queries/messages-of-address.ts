import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const listStatement = defineStatement(
  'outreach_message_list_of_address',
  Type.Object({
    template: Type.String(),
    language: Type.String(),
    state: Type.String(),
    created_at: Timestamp,
  }),
  `select template, language, state, created_at from outreach_messages
   where address_hash = decode($1, 'hex') order by created_at desc limit 1000`,
);

/** A letter that was sent to somebody, or was to be. */
export interface OutreachMail {
  readonly template: string;
  readonly language: string;
  readonly state: string;
  readonly createdAt: Date;
}

/** The newest outreach letters to an address, as long as they are kept. */
export async function listOutreachMails(
  db: Queryable,
  addressHash: string,
): Promise<OutreachMail[]> {
  const rows = await queryRows(db, listStatement, [addressHash]);
  return rows.map(({ created_at: createdAt, ...mail }) => ({ ...mail, createdAt }));
}

const anonymiseStatement = defineCommand(
  'outreach_message_anonymise',
  `update outreach_messages set address_hash = '' where address_hash = decode($1, 'hex')`,
);

/**
 * Takes away whom letters were to. The rows stay, for they are the answer to a request that comes again, which names the
 * others, too.
 */
export async function anonymiseMessages(db: Queryable, addressHash: string): Promise<void> {
  await execute(db, anonymiseStatement, [addressHash]);
}
