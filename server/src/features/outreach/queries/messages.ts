import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRows,
  type Queryable,
  Timestamp,
} from '#server/db/statement.ts';
import { toByteaArray, toPlainArray } from '#server/db/hot-statement.ts';

const MessageState = Type.Enum(['waiting', 'sending', 'sent', 'failed', 'unknown']);

export type MessageState = Static<typeof MessageState>;

export interface NewMessage {
  readonly addressHash: string;
  readonly messageId: string;
  /** Why it is not sent, or null. */
  readonly error: string | null;
}

/** The common values of the messages of a request. */
export interface MessageGroup {
  readonly requestId: string;
  readonly template: string;
  readonly language: string;
  readonly createdAt: Date;
}

const insertStatement = defineCommand(
  'outreach_message_insert',
  `insert into outreach_messages
     (request_id, position, template, language, address_hash, message_id, state, error, created_at, ended_at)
   select $1, message.position - 1, $2, $3, message.address_hash, message.message_id,
          case when message.error is null then 'waiting' else 'failed' end, message.error, $4,
          case when message.error is null then null else $4::timestamptz end
   from unnest($5::bytea[], $6::text[], $7::text[])
     with ordinality as message (address_hash, message_id, error, position)`,
);

export async function insertMessages(
  db: Queryable,
  { requestId, template, language, createdAt }: MessageGroup,
  messages: readonly NewMessage[],
): Promise<void> {
  await execute(db, insertStatement, [
    requestId,
    template,
    language,
    createdAt,
    toByteaArray(messages.map(({ addressHash }) => addressHash)),
    messages.map(({ messageId }) => messageId),
    messages.map(({ error }) => error),
  ]);
}

const StoredMessageRow = Type.Object({
  messageId: Type.String(),
  state: MessageState,
  error: Nullable.Text,
});

export type StoredMessage = Readonly<Static<typeof StoredMessageRow>>;

const listStatement = defineStatement(
  'outreach_message_list',
  StoredMessageRow,
  'select message_id, state, error from outreach_messages where request_id = $1 order by position',
);

/** Returns the messages of a request, in its order. */
export async function listMessages(db: Queryable, requestId: string): Promise<StoredMessage[]> {
  return queryRows(db, listStatement, [requestId]);
}

const beginStatement = defineStatement(
  'outreach_message_begin',
  Type.Object({ position: Type.Number() }),
  `update outreach_messages set state = 'sending'
   where request_id = $1 and position = any ($2::integer[]) and state = 'waiting'
   returning position`,
);

/** Stores that messages are being sent; returns the positions of those that no other process has started. */
export async function beginMessages(
  db: Queryable,
  requestId: string,
  positions: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await queryRows(db, beginStatement, [requestId, toPlainArray(positions)]);
  return new Set(rows.map(({ position }) => position));
}

const endStatement = defineCommand(
  'outreach_message_end',
  `update outreach_messages
   set state = ended.state, error = ended.error, ended_at = $2
   from unnest($3::integer[], $4::text[], $5::text[]) as ended (position, state, error)
   where outreach_messages.request_id = $1 and outreach_messages.position = ended.position
     and outreach_messages.state in ('waiting', 'sending', 'unknown')`,
);

/** The outcome of one message of a request. */
export interface MessageEnd {
  readonly position: number;
  readonly state: 'sent' | 'failed' | 'unknown';
  readonly error: string | null;
}

export async function endMessages(
  db: Queryable,
  requestId: string,
  ends: readonly MessageEnd[],
  now: Date,
): Promise<void> {
  if (ends.length === 0) return;
  await execute(db, endStatement, [
    requestId,
    now,
    toPlainArray(ends.map(({ position }) => position)),
    toPlainArray(ends.map(({ state }) => state)),
    ends.map(({ error }) => error),
  ]);
}

const deleteStatement = defineCommand(
  'outreach_message_delete_old',
  `delete from outreach_messages where (request_id, position) in (
     select request_id, position from outreach_messages where created_at < $1 limit $2)`,
);

/** Deletes messages from before a time; returns how many. */
export function deleteOldMessages(db: Queryable, before: Date, limit: number): Promise<number> {
  return execute(db, deleteStatement, [before, limit]);
}

const AddressMessageRow = Type.Object({
  template: Type.String(),
  language: Type.String(),
  state: Type.String(),
  createdAt: Timestamp,
});

/** A message to an address. */
export type AddressMessage = Readonly<Static<typeof AddressMessageRow>>;

const listOfAddressStatement = defineStatement(
  'outreach_message_list_of_address',
  AddressMessageRow,
  `select template, language, state, created_at from outreach_messages
   where address_hash = decode($1, 'hex') order by created_at desc limit 1000`,
);

/** Returns the messages to an address, newest first, as long as they are stored. */
export async function listMessagesOfAddress(
  db: Queryable,
  addressHash: string,
): Promise<AddressMessage[]> {
  return queryRows(db, listOfAddressStatement, [addressHash]);
}

const anonymizeStatement = defineCommand(
  'outreach_message_anonymize',
  `update outreach_messages set address_hash = '' where address_hash = decode($1, 'hex')`,
);

/**
 * Deletes the address hash of messages; the rows remain, because they answer a repeated request with other recipients.
 */
export async function anonymizeMessages(db: Queryable, addressHash: string): Promise<void> {
  await execute(db, anonymizeStatement, [addressHash]);
}
