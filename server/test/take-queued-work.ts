import type { Pool } from 'pg';

/** Removes and returns the types of outgoing messages and the keys of jobs. */
export async function takeQueuedWork(
  pool: Pool,
): Promise<{ readonly messages: string[]; readonly jobs: string[] }> {
  const { rows: messages } = await pool.query('select type from webhook_messages order by type');
  const { rows: jobs } = await pool.query('select key from jobs order by key');
  await pool.query('truncate webhook_messages, webhook_deliveries, jobs');
  return { messages: messages.map(({ type }) => type), jobs: jobs.map(({ key }) => key) };
}
