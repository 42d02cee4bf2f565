/** What a person sees on the page of a fleet. */
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser, Page } from '../browser.ts';
import type { AgentFleet } from './agent-fleet.ts';

/** The promise of the page on a machine that has the time to draw it. */
const SHOWN_WITHIN_MS = 3000;

const TIMEOUT_MS = 30_000;
const POLL_MS = 50;

/** Opens the page that the first agent serves, with all agents in its address, and waits until it is drawn. */
export async function openFleetPage(browser: Browser, fleet: AgentFleet): Promise<Page> {
  const page = await browser.open(fleet.listUrl);
  await page.until("document.querySelector('.fleet h1')");
  return page;
}

/** Reads the sentences about each machine that needs attention, by its name. */
export async function readProblems(page: Page): Promise<Readonly<Record<string, string>>> {
  const rows =
    await page.evaluate(`[...document.querySelectorAll('.fleet-problems > li')].map((row) => [
    row.querySelector('.fleet-machine').textContent,
    [...row.querySelectorAll('.fleet-sentence')].map(({ textContent }) => textContent).join(' '),
  ])`);
  assert.ok(Array.isArray(rows));
  return Object.fromEntries(rows);
}

/** Reads what changed since the page was opened, newest first. */
async function readEvents(page: Page): Promise<Readonly<Record<string, string>>> {
  const rows = await page.evaluate(
    "[...document.querySelectorAll('.fleet-events > li span')].map(({ textContent }) => textContent)",
  );
  assert.ok(Array.isArray(rows));
  return Object.fromEntries(rows.map((text) => [String(text), String(text)]));
}

/**
 * Waits until the page shows a sentence about each machine.
 * @param expected by name
 * @returns how long that took in milliseconds, by name
 */
export async function waitForProblems(
  page: Page,
  expected: Readonly<Record<string, RegExp>>,
): Promise<Readonly<Record<string, number>>> {
  return waitForAll(
    expected,
    () => readProblems(page),
    (seen, name) => seen[name] ?? '',
  );
}

/** Waits until all changes are listed. @returns how long that took in milliseconds, by name */
export async function waitForEvents(
  page: Page,
  expected: Readonly<Record<string, RegExp>>,
): Promise<Readonly<Record<string, number>>> {
  return waitForAll(
    expected,
    () => readEvents(page),
    (seen, name) => {
      const found = Object.keys(seen).find((text) => expected[name]?.test(text));
      return found ?? '';
    },
  );
}

/** @throws Error after 30 seconds, with what is missing and what was read instead */
async function waitForAll(
  expected: Readonly<Record<string, RegExp>>,
  read: () => Promise<Readonly<Record<string, string>>>,
  find: (seen: Readonly<Record<string, string>>, name: string) => string,
): Promise<Readonly<Record<string, number>>> {
  const startedAt = performance.now();
  const found: Record<string, number> = {};
  for (;;) {
    const seen = await read();
    const elapsedMs = performance.now() - startedAt;
    for (const [name, sentence] of Object.entries(expected)) {
      if (sentence.test(find(seen, name))) found[name] ??= Math.round(elapsedMs);
    }
    const missing = Object.keys(expected).filter((name) => found[name] === undefined);
    if (missing.length === 0) return found;
    assert.ok(
      elapsedMs < TIMEOUT_MS,
      `not shown: ${missing.join(', ')} in ${JSON.stringify(seen)}`,
    );
    await sleep(POLL_MS);
  }
}

/** Asserts that everything was shown in time. */
export function assertPrompt(found: Readonly<Record<string, number>>): void {
  const late = Object.entries(found).filter(([, ms]) => ms > SHOWN_WITHIN_MS * measureLoad());
  assert.deepEqual(late, [], 'shown late, in milliseconds');
}

/** Returns how many programs want to run on each processor, at least 1: everything takes so much longer. */
export function measureLoad(): number {
  const [lastMinute = 0] = loadavg();
  return Math.max(1, lastMinute / availableParallelism());
}

/**
 * Moves the cursor of the figure to the oldest seconds, and reads the values of all machines.
 * @param after seconds after the oldest
 */
export async function readOldestValues(
  page: Page,
  after: number,
): Promise<{ readonly time: string; readonly values: Readonly<Record<string, string>> }> {
  await page.evaluate("document.querySelector('.fleet-values').open = true");
  await page.tab.focus('.fleet-canvas');
  await page.tab.keyboard.press('Home');
  for (let each = 0; each < after; each += 1) await page.tab.keyboard.press('ArrowRight');
  const read = await page.evaluate(`[
    document.querySelector('.fleet-values caption').textContent,
    [...document.querySelectorAll('.fleet-values tbody tr')].map((row) =>
      [...row.children].map(({ textContent }) => textContent)),
  ]`);
  assert.ok(Array.isArray(read));
  await page.evaluate(
    "document.querySelector('.fleet-values').open = false; document.activeElement.blur()",
  );
  const [caption, rows] = read;
  return { time: String(caption).replace('At ', ''), values: Object.fromEntries(rows) };
}
