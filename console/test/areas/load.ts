/** The requests of a console that is open all day. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';

import type { CampaignAudience } from '@latchkey/contract';
import type { Page, Request } from 'playwright-core';

import { createDraft } from '../../../server/src/features/outreach/campaigns/edit-campaign.ts';
import type { Console } from '../open-console.ts';
import { PAGE_CHECKS } from '../pages.ts';
import { waitUntilShown } from '../windows.ts';

const STEP_MS = 10_000;
const MINUTES = 2;

/** The most requests of an open page in a minute. */
const MAX_PER_MINUTE = 6;

/** Pages that must follow the work of the service. */
const POLLING = ['/', '/health', '/jobs', '/payments'];

const show = (state: 'visible' | 'hidden'): string =>
  `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });`;

const SETTLE_MS = 5;

/** Lets minutes pass in the page, and returns how many requests it sent in a minute, on average. */
async function countRequests(page: Page): Promise<number> {
  const requests = new Set<Request>();
  const pending = new Set<Request>();
  const begin = (request: Request): void => {
    requests.add(request);
    pending.add(request);
  };
  const end = (request: Request): void => void pending.delete(request);
  page.on('request', begin).on('requestfinished', end).on('requestfailed', end);
  for (let passedMs = 0; passedMs < MINUTES * 60_000; passedMs += STEP_MS) {
    await page.clock.runFor(STEP_MS);
    // The answer arrives before the next poll, as it does in ten seconds.
    do await sleep(SETTLE_MS);
    while (pending.size > 0);
  }
  page.off('request', begin).off('requestfinished', end).off('requestfailed', end);
  return requests.size / MINUTES;
}

const AUDIENCE: CampaignAudience = {
  source: 'subscribers',
  languages: [],
  products: [],
  statuses: [],
};

/** Stores a campaign that is being sent, without a process that sends it. */
async function createSending({ service }: Console): Promise<string> {
  const content = { name: 'Long', texts: {}, defaultLanguage: 'en', audience: AUDIENCE } as const;
  const { id } = await createDraft(service.context, content, 'operator:anna@example.com');
  await service.pool.query(
    `update outreach_campaigns set state = 'sending', started_at = $2, started_by = 'operator:anna@example.com',
       total = 1200, sent = 480
     where id = $1`,
    [id, service.clock.now()],
  );
  return id;
}

/** Returns every page once, without its query. */
function listPages(world: Console['world']): readonly string[] {
  const paths = PAGE_CHECKS.filter(({ role }) => role !== null).map(({ path }) =>
    path.replaceAll(/\{(?<name>\w+)\}/g, (_, name: string) => world[name] ?? name),
  );
  return [...new Map(paths.map((path) => [path.split('?', 1)[0], path])).values()];
}

export function testLoad(running: () => Console): void {
  test('an open page sends at most six requests a minute, and none while it is hidden', async () => {
    const { page, close, go, follow } = await running().open('admin', { width: 1440, own: true });
    await page.clock.install();
    await go('/account');
    const sending = `/outreach/${await createSending(running())}`;
    const polling = [...POLLING, sending, `${sending}?tab=messages`];
    for (const path of new Set([...polling, ...listPages(running().world)])) {
      await page.evaluate(show('visible'));
      await follow(path);
      await waitUntilShown(page);
      const visible = await countRequests(page);
      assert.ok(visible <= MAX_PER_MINUTE, `${path}: ${visible} requests a minute`);
      if (!polling.includes(path)) continue;
      assert.ok(visible > 0, `${path} is not polled`);
      await page.evaluate(show('hidden'));
      assert.equal(await countRequests(page), 0, path);
    }
    await close();
  });
}
