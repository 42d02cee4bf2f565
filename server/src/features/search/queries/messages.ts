import { Type, type Static } from 'typebox';

import {
  Nullable,
  Timestamp,
  defineStatement,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const MessageRow = Type.Object({
  id: Type.String(),
  type: Type.String(),
  createdAt: Timestamp,
  /** Of its first delivery; null: none. */
  endpointId: Nullable.Text,
});

/** A message of outgoing webhooks as a search lists it. */
export type FoundMessage = Readonly<Static<typeof MessageRow>>;

const findMessageStatement = defineStatement(
  'search_find_message',
  MessageRow,
  `select id, type, created_at,
          (select endpoint_id from webhook_deliveries where message_id = id order by endpoint_id limit 1) as endpoint_id
   from webhook_messages where id = $1`,
);

/** Finds a message of outgoing webhooks. */
export async function findMessage(db: Queryable, id: string): Promise<FoundMessage | null> {
  return queryRow(db, findMessageStatement, [id]);
}
