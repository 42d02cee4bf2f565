import type { Pool } from 'pg';

/** What has followed since this was asked last: the outgoing messages' types, and the jobs' keys. */
export async function takeFollowed(
  pool: Pool,
): Promise<{ readonly messages: string[]; readonly jobs: string[] }> {
  const { rows: messages } = await pool.query('select type from webhook_messages order by type');
  const { rows: jobs } = await pool.query('select key from jobs order by key');
  await pool.query('truncate webhook_messages, webhook_deliveries, jobs');
  return { messages: messages.map(({ type }) => type), jobs: jobs.map(({ key }) => key) };
}
