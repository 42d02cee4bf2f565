/** Endpoints of outgoing webhooks: one that works, one that fails at times, one that has gone, one that is down. */
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { disableEndpoint } from '#server/features/outgoing-webhooks/manage-endpoints.ts';

import { RECEIVERS } from '../local/receivers.ts';
import { DAY_MS, HOUR_MS } from '../time.ts';
import { ADMIN } from './people.ts';
import type { Action, World } from './world.ts';

/** How long ago the endpoints were registered. Messages are stored for 30 days. */
export const ENDPOINT_DAYS = 29;

/** The registrations, in the order of time. */
export function listEndpointChanges({ context, nowMs, receiverUrl }: World): Action[] {
  const change = { actor: ADMIN.actor, reason: null };
  const added = Object.entries(RECEIVERS).map(([path, receiver], index) => ({
    atMs: nowMs - ENDPOINT_DAYS * DAY_MS + index * 20 * 60_000,
    run: () =>
      addEndpoint(
        context,
        {
          url: `${receiverUrl}/${path}`,
          eventTypes: [...receiver.eventTypes],
          description: receiver.description,
        },
        change,
      ),
  }));
  const disabled = {
    atMs: nowMs - 3.1 * DAY_MS,
    run: () =>
      disableEndpoint(context, {
        actor: ADMIN.actor,
        idOrUrl: `${receiverUrl}/spreadsheet`,
        reason: 'The spreadsheet is full; the CRM has everything',
      }),
  };
  return [...added, disabled];
}

/** Records how the messages of the last weeks were delivered, each attempt with the start of the answer. */
export async function fillDeliveries({ context, nowMs, receiverUrl }: World): Promise<void> {
  const { pool } = context;
  const now = new Date(nowMs);
  await pool.query(DELIVER, [now, `${receiverUrl}/crm`, `${receiverUrl}/spreadsheet`]);
  await pool.query(FAIL_AT_TIMES, [now, `${receiverUrl}/chat`]);
  await pool.query(FAIL_LATELY, [now, `${receiverUrl}/chat`]);
  await pool.query(GO_AWAY, [new Date(nowMs - 9 * DAY_MS), `${receiverUrl}/old-shop`]);
  const downSince = new Date(nowMs - 31 * HOUR_MS);
  await pool.query(GO_DOWN, [now, downSince, `${receiverUrl}/warehouse`]);
  await pool.query(STORE_ATTEMPTS);
}

/** A number from 0 to 99 that depends only on the message and the endpoint. */
const CHANCE = `abs(hashtext(d.message_id || d.endpoint_id::text)) % 100`;

const DELIVER = `
  update webhook_deliveries d
  set state = 'delivered', attempts = case when ${CHANCE} < 4 then 2 else 1 end, next_attempt_at = null,
      last_attempt_at = least(d.created_at + case when ${CHANCE} < 4 then interval '6 s' else interval '400 ms' end, $1::timestamptz),
      last_status = 200, last_duration_ms = 38 + ${CHANCE} * 3, last_error = null
  from webhook_endpoints e where e.id = d.endpoint_id and e.url in ($2, $3)
    and d.created_at < coalesce(e.disabled_at, $1::timestamptz)`;

const FAIL_AT_TIMES = `
  update webhook_deliveries d
  set state = case when ${CHANCE} < 5 then 'failed' else 'delivered' end,
      attempts = case when ${CHANCE} < 5 then 10 when ${CHANCE} < 16 then 3 else 1 end, next_attempt_at = null,
      last_attempt_at = least(d.created_at + case when ${CHANCE} < 5 then interval '75 h'
        when ${CHANCE} < 16 then interval '6 min' else interval '300 ms' end, $1::timestamptz),
      last_status = case when ${CHANCE} < 3 then 503 when ${CHANCE} < 5 then 429 else 204 end,
      last_duration_ms = 90 + ${CHANCE} * 5,
      last_error = case when ${CHANCE} < 3 then 'HTTP 503' when ${CHANCE} < 5 then 'HTTP 429' end
  from webhook_endpoints e where e.id = d.endpoint_id and e.url = $2
    and (${CHANCE} >= 5 or d.created_at < $1::timestamptz - interval '4 days')`;

const FAIL_LATELY = `
  update webhook_deliveries d
  set attempts = 4, next_attempt_at = $1::timestamptz + (20 + ${CHANCE} * 15) * interval '1 min',
      last_attempt_at = greatest(d.created_at, $1::timestamptz - interval '50 min'), last_status = 503,
      last_duration_ms = 90 + ${CHANCE} * 5, last_error = 'HTTP 503'
  from webhook_endpoints e where e.id = d.endpoint_id and e.url = $2 and d.state = 'pending'`;

const GO_AWAY = `
  with gone as (
    update webhook_endpoints set disabled_at = $1::timestamptz, disabled_reason = 'gone', failing_since = $1::timestamptz, last_failed_at = $1
    where url = $2 returning id
  ), unsent as (
    delete from webhook_deliveries d using gone where d.endpoint_id = gone.id and d.created_at > $1
  ), last as (
    select message_id from webhook_deliveries d join gone on d.endpoint_id = gone.id
    where d.created_at <= $1::timestamptz order by d.created_at desc limit 3
  )
  update webhook_deliveries d
  set state = case when d.message_id in (select message_id from last) then 'failed' else 'delivered' end,
      attempts = 1, next_attempt_at = null, last_attempt_at = d.created_at + interval '500 ms',
      last_status = case when d.message_id in (select message_id from last) then 410 else 200 end,
      last_duration_ms = 60 + ${CHANCE},
      last_error = case when d.message_id in (select message_id from last) then 'HTTP 410' end
  from gone where d.endpoint_id = gone.id and d.created_at <= $1::timestamptz`;

const GO_DOWN = `
  with down as (
    update webhook_endpoints set failing_since = $2::timestamptz, last_failed_at = $1::timestamptz - interval '4 min'
    where url = $3 returning id
  )
  update webhook_deliveries d
  set state = case when d.created_at < $2::timestamptz then 'delivered' else 'pending' end,
      attempts = case when d.created_at < $2::timestamptz then 1 else greatest(1, least(7, 1 + (extract(epoch from $1::timestamptz - d.created_at) / 14000)::integer)) end,
      next_attempt_at = case when d.created_at < $2::timestamptz then null
        else $1::timestamptz + (10 + ${CHANCE} * 4) * interval '1 min' end,
      last_attempt_at = case when d.created_at < $2::timestamptz then d.created_at + interval '450 ms'
        else greatest(d.created_at, $1::timestamptz - (1 + ${CHANCE}) * interval '1 min') end,
      last_status = case when d.created_at < $2::timestamptz then 200 end,
      last_duration_ms = case when d.created_at < $2::timestamptz then 120 + ${CHANCE} * 4 else 2 end,
      last_error = case when d.created_at < $2::timestamptz then null else 'connect ECONNREFUSED' end
  from down where d.endpoint_id = down.id`;

/** The attempts before the last one were spread over the time since the message. */
const STORE_ATTEMPTS = `
  insert into webhook_attempts (message_id, endpoint_id, attempted_at, status, duration_ms, error, answer)
  select message_id, endpoint_id,
         created_at + interval '300 ms' + (last_attempt_at - created_at - interval '300 ms')
           * power(number::float8 / greatest(attempts, 1), 3),
         status, last_duration_ms + number, error,
         case status when 503 then 'upstream is restarting' when 429 then '{"retry_after":30}'
                     when 410 then 'This shop has moved.' when 200 then 'ok' end
  from (
    select *, case when number < attempts and state = 'delivered' then 503 else last_status end as status,
           case when number < attempts and state = 'delivered' then 'HTTP 503' else last_error end as error
    from webhook_deliveries, generate_series(1, attempts) as number
    where last_attempt_at is not null
  ) as attempt
  on conflict do nothing`;
