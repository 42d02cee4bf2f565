/** The exports of lists and reports, as the browser stores them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import type { Console } from '../open-console.ts';

/** Pages, each with the name and the beginning of the file that its button stores; default: Export CSV. */
const EXPORTS: readonly (readonly [path: string, file: string, button?: string])[] = [
  ['/licenses', 'licenses.csv: license_id,key_hint,'],
  ['/trials', 'trials.csv: id,product_id,'],
  ['/trials?tab=conversion', 'conversion.csv: week,trials,converted,'],
  ['/payments', 'payment-events.csv: provider,event_id,'],
  ['/webhooks?tab=deliveries', 'webhook-deliveries.csv: message_id,endpoint_id,'],
  ['/mail', 'mails.csv: id,kind,state,'],
  ['/subscribers', 'subscribers.csv: id,email,state,'],
  ['/suppressions', 'suppressions.csv: address_hash,email,'],
  ['/outreach/{sentId}?tab=messages', 'campaign-messages.csv: position,email,name,'],
  ['/operators', 'operators.csv: id,email,name,'],
  ['/api-keys', 'api-keys.csv: id,name,key_hint,'],
  ['/audit', 'audit-entries.csv: sequence,occurred_at,'],
  ['/jobs', 'jobs.csv: id,name,key,'],
  ['/events', 'events.csv: name,events,share,'],
  ['/usage', 'usage.csv: starts,machines,', 'Export days'],
  ['/events/details?name=export_finished', 'event-by-day.csv: day,events,installs,', 'Export days'],
  ['/usage', 'usage-by-version.csv: version,machine_days,', 'Export versions'],
  ['/usage?group=platform', 'usage-by-platform.csv: platform,machine_days,', 'Export platforms'],
  [
    '/events/details?name=export_finished',
    'event-by-property.csv: property,events,',
    'Export properties',
  ],
  [
    '/events/details?name=export_finished&group=version',
    'event-by-version.csv: version,events,',
    'Export versions',
  ],
  [
    '/events/details?name=export_finished&key=format',
    'event-by-value.csv: value,events,',
    'Export values',
  ],
  ['/licenses?search=Ann', 'licenses.csv: license_id,', 'Export with keys'],
  ['/licenses', 'activations.csv: license_id,activation_id,', 'Export activations'],
  ['/usage?group=retention', 'retention.csv: first_week,machines,', 'Export retention'],
  ['/events', 'dropped-events.csv: reason,events,', 'Export reasons'],
  ['/outreach', 'campaigns.csv: id,name,state,'],
  ['/webhooks', 'webhook-endpoints.csv: id,url,'],
  ['/signing-keys', 'signing-keys.csv: kid,state,'],
  ['/jobs?tab=tasks', 'periodic-tasks.csv: name,action,scope,'],
  ['/licenses/{licenseId}', 'timeline.csv: id,occurred_at,kind,'],
  ['/licenses/{licenseId}?kind=payment', 'timeline.csv: id,occurred_at,kind,'],
  ['/installs/{findInstall}', 'install-events.csv: event_id,received_at,'],
  ['/operators/{operatorId}', 'sessions.csv: id,user_agent,network,'],
];

/** A key in full. */
const KEY = /,LK(-[A-Z0-9]{5}){5},/;

export function testExports(running: () => Console): void {
  test('stores the file of each export button', async () => {
    const { world, open } = running();
    const { page, close, go, problems } = await open('admin');
    for (const [path, file, button = 'Export CSV'] of EXPORTS) {
      await go(path.replace(/\{(\w+)\}/, (_all, name: string) => world[name] ?? ''));
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: button, exact: true }).first().click();
      const download = await downloading;
      const text = await readFile(await download.path(), 'utf8');
      const stored = `${download.suggestedFilename()}: ${text}`;
      assert.equal(stored.slice(0, file.length), file, path);
      assert.ok(text.split('\r\n').length > 2, `${path}: has no rows`);
      if (button === 'Export with keys') assert.match(text, KEY);
    }
    assert.deepEqual(problems, []);
    await close();
  });
}
