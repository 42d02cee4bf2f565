/** The page that watches many machines, at an agent's `/fleet`: a hundred agents on this machine, in a real browser. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { formatPercent } from '#agent/page/browser/format.ts';

import { lacksChromium } from '../../../scripts/lib/chromium.ts';
import { Browser, type Page } from '../browser.ts';
import { lacksOpenssl } from '../certificates.ts';
import { findFreePort } from '../find-free-port.ts';
import { AgentFleet, type Verb } from './agent-fleet.ts';
import {
  assertPrompt,
  measureLoad,
  openFleetPage,
  readOldestValues,
  waitForEvents,
  waitForProblems,
} from './fleet-page.ts';
import { usageAt } from './invented-machine.ts';
import { type AgentPlan, CAST } from './plan.ts';

const COUNT = 100;

/** What the page shows of machines that it never saw. */
const NEVER_SEEN: Readonly<Record<string, RegExp>> = {
  [CAST.silent]: /^Has not answered since/,
  [CAST.mute]: /^Has not answered since/,
  [CAST.untrusted]: /^Cannot be reached since .* does not trust its certificate\.$/,
  [CAST.absent]: /^Cannot be reached since/,
  [CAST.origin]:
    /^Does not allow this page: run “latchkey-agent origins add https:\/\/127\.0\.1\.1:\d+” on it\.$/,
  [CAST.noUpgrade]: /^Is behind a proxy that does not forward WebSockets/,
  [CAST.mutual]: /^Requires a client certificate/,
  [CAST.token]: /^Needs an access token: enter it\.$/,
};

const NOTICED: Readonly<Record<string, RegExp>> = {
  'web-5': /^\/ is 93\s% full\.$/,
  'db-6': /^The disk sda is failing\.$/,
  'cache-7': /^Tctl is at 97\s°C\.$/,
  'batch-8': /^The unit certbot\.service failed\.$/,
  'db-18': /^\/mnt\/backup does not answer\.$/,
};

const skip = lacksChromium || lacksOpenssl;

/** Returns what the page may show as the usage of a second: ticks are between seconds, and so is what the page draws as one. */
function listUsage(plan: AgentPlan, time: string): string[] {
  const timeMs = new Date(`${new Date().toDateString()} ${time}`).getTime();
  const most = Math.ceil(1 + measureLoad());
  const seconds = Array.from({ length: 2 * most + 1 }, (_, at) => at - most);
  return seconds.map((each) => formatPercent(usageAt(plan, timeMs + 1000 * each)));
}

/** Returns an expression: whether one machine is listed, named by its address. */
function showsOnly({ host }: AgentPlan): string {
  const names = "[...document.querySelectorAll('.fleet-machine')].map((each) => each.textContent)";
  return `${names}.join() === '${host}'`;
}

describe('the page of a hundred machines', { skip }, () => {
  let fleet: AgentFleet;
  let browser: Browser;
  let page: Page;
  before(async () => {
    fleet = await AgentFleet.start({ count: COUNT, port: await findFreePort(), withFaults: true });
    browser = await Browser.start([fleet.trustArgument]);
    page = await openFleetPage(browser, fleet);
  });
  after(async () => {
    await browser?.[Symbol.asyncDispose]();
    await fleet?.[Symbol.asyncDispose]();
  });

  test('names each problem within three seconds, also of machines that it cannot watch', async (context) => {
    const found = await waitForProblems(page, { ...NEVER_SEEN, ...NOTICED });
    context.diagnostic(JSON.stringify(found));
    assertPrompt(found);
  });

  test('shows five minutes of all others at once', async () => {
    const watched = fleet.plans.filter(({ id }) => NEVER_SEEN[id] === undefined);
    const { time, values } = await readOldestValues(page, 10);
    const wrong = watched.filter((plan) => !listUsage(plan, time).includes(values[plan.id] ?? ''));
    assert.deepEqual(
      wrong.map(({ id }) => [id, values[id]]),
      [],
    );
    assert.equal(watched.length, COUNT - Object.keys(NEVER_SEEN).length);
  });

  test('watches a machine once its token is entered, from a page of another origin', async () => {
    const token = fleet.plans.find(({ id }) => id === CAST.token)?.token ?? '';
    await page.tab.fill('.fleet-token input', token);
    await page.tab.press('.fleet-token input', 'Enter');
    await page.until("document.querySelector('.fleet-token') === null");
  });

  test('names within three seconds what happens to machines that it watches', async (context) => {
    const faults: readonly (readonly [Verb, string])[] = [
      ['freeze', CAST.frozen],
      ['forget-token', CAST.token],
      ['stop', CAST.stopped],
    ];
    const shown = waitForProblems(page, {
      [CAST.frozen]: /^Has not answered since/,
      [CAST.token]:
        /^(?:Closed the connection: The access token is not known\.|Does not accept the token|Needs an access token)/,
      [CAST.stopped]: /^Stopped its agent at/,
    });
    for (const [verb, id] of faults) await fleet.act(verb, id);
    const found = await shown;
    context.diagnostic(JSON.stringify(found));
    assertPrompt(found);
  });

  test('recognizes a reboot, and an agent that restarted alone', async (context) => {
    const shown = waitForEvents(page, {
      [CAST.rebooted]: new RegExp(`^${CAST.rebooted} rebooted\\.$`),
      [CAST.restarted]: new RegExp(`^The agent of ${CAST.restarted} restarted\\.$`),
      [CAST.frozen]: new RegExp(`^${CAST.frozen} answers again\\.$`),
      [CAST.stopped]: new RegExp(`^${CAST.stopped} answers again\\.$`),
    });
    await fleet.act('reboot', CAST.rebooted);
    await fleet.act('restart', CAST.restarted);
    await fleet.act('thaw', CAST.frozen);
    await fleet.act('start', CAST.stopped);
    const found = await shown;
    context.diagnostic(JSON.stringify(found));
    assertPrompt({ [CAST.rebooted]: found[CAST.rebooted] ?? Number.NaN });
  });

  test('keeps its first list, which a link to another one does not replace', async () => {
    const [one, two] = fleet.plans.slice(1, 3);
    assert.ok(one !== undefined && two !== undefined);
    await using other = await browser.open(`${fleet.pageUrl}#m=${one.host}:${one.port}`);
    await other.until(showsOnly(one));
    await other.tab.goto(`${fleet.pageUrl}#m=${two.host}:${two.port}`);
    await other.until(showsOnly(two));
    await other.tab.goto('about:blank');
    await other.tab.goto(fleet.pageUrl);
    await other.until(showsOnly(one));
    assert.deepEqual(other.problems, []);
  });
});
