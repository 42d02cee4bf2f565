import { OTHER_CLIENTS, type Actor } from './actor.ts';

const ADMIN = '/api/v1/admin';

/** The lists that an operator of a shop opens all day. */
const LISTS = [
  '/overview',
  '/licenses',
  '/licenses?status=active',
  '/licenses?sort=-created_at',
  '/licenses?search=buyer-1',
  '/trials',
  '/payment-events',
  '/payment-events?state=failed',
  '/payment-events/summary',
  '/mails',
  '/subscribers',
  '/search?q=buyer-2',
  '/jobs',
  '/tasks',
  '/audit',
  '/health',
] as const;

const REPORTS = [
  '/usage',
  '/usage/breakdown',
  '/usage/retention',
  '/events',
  '/events/days?name=app_started',
  '/events/drops',
  '/trials/report',
] as const;

/** Creates the actor that opens pages one after the other, as an operator does. */
function open(operation: 'list' | 'report', pages: readonly string[]): Actor {
  return async ({ apiKey, client }, number, dueAt) => {
    const path = `${ADMIN}${pages[number % pages.length] ?? ''}`;
    const headers = { 'x-api-key': apiKey };
    const request = { path, headers, client: OTHER_CLIENTS - 3, dueAt };
    await client.send(operation, { method: 'GET', ...request });
  };
}

export const openList = open('list', LISTS);
export const openReport = open('report', REPORTS);
