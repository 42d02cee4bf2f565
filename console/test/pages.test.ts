/** Generic checks of every page in Chromium; `pages.ts` lists the pages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

import { lacksChromium } from '../../scripts/lib/chromium.ts';
import { openConsole, type Console } from './open-console.ts';
import { playAgents } from './play-agents.ts';
import type { Window } from './windows.ts';
import { PAGE_CHECKS, type PageCheck } from './pages.ts';
import { WindowPool, type Role } from './window-pool.ts';

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

describe('every page', { skip: lacksChromium, concurrency: 2 }, () => {
  const resources = new AsyncDisposableStack();
  let running: Console;
  const windows = new WindowPool((role) => openWithAxe(running, role));
  before(async () => {
    running = await openConsole(resources);
  });
  after(() => resources.disposeAsync());

  for (const check of PAGE_CHECKS) {
    test(describeCheck(check), async () => {
      const window = await windows.take(check.role);
      const findings = await examine(window, check, running.world);
      assert.deepEqual(findings, []);
      // The dialog of the shell would stay, and so would what is expected of this page alone.
      if ((check.press ?? check.expects) !== undefined) await window.go('/');
      windows.put(check.role, window);
    });
  }
});

function describeCheck({ path, press, role = 'admin' }: PageCheck): string {
  const pressed = press === undefined ? '' : `, ${press}`;
  return `${path}${pressed}${role === 'admin' ? '' : ` as ${role ?? 'nobody'}`}`;
}

async function openWithAxe(running: Console, role: Role): Promise<Window> {
  const window = await running.open(role, WIDE);
  await window.context.addInitScript(axeSource);
  await playAgents(window.context);
  await window.go(role === null ? '/sign-in' : '/');
  return window;
}

const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 360, height: 900 };

/** What depends on colors; all rules are examined wide and narrow, in light. */
const RULES_OF_LOOKS = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];

/** Rows that look like those above them. */
const ROWS = ['tbody tr:nth-child(n+9)'];

/** What looks the same on every page is examined on the start page. */
const REPEATED = [...ROWS, '.side'];

/** Returns what is wrong with a page, in a wide and a narrow window, in light and dark. */
async function examine(
  window: Window,
  check: PageCheck,
  world: Console['world'],
): Promise<string[]> {
  const { page, problems } = window;
  const seen = problems.length;
  await look(page, WIDE, 'light');
  await show(window, check, fill(check.path, world));
  const findings = await findMissing(page, check.shows);
  findings.push(...(await findViolations(page, null, [])));
  for (const [size, scheme] of [
    [WIDE, 'dark'],
    [NARROW, 'dark'],
    [NARROW, 'light'],
  ] as const) {
    await look(page, size, scheme);
    // What is hidden or moves when it is narrow may break any rule.
    const rules = scheme === 'light' ? null : RULES_OF_LOOKS;
    const found = await findViolations(page, rules, check.path === '/' ? ROWS : REPEATED);
    findings.push(...found.map((each) => `${scheme}, ${size.width} px: ${each}`));
    if (scheme === 'dark') findings.push(...(await findOverflow(page, size.width)));
  }
  const expected = [...(check.expects ?? []), ...(check.role === null ? [SIGNED_OUT_REQUEST] : [])];
  const isExpected = (problem: string): boolean => expected.some((each) => each.test(problem));
  findings.push(...problems.slice(seen).filter((each) => !isExpected(each)));
  return findings;
}

async function look(page: Page, size: typeof WIDE, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme });
}

/** Shows a page; one without a session, with a dialog, or that connects to other hosts, in a document of its own. */
async function show({ go, follow, page }: Window, check: PageCheck, path: string): Promise<void> {
  const { press, role, expects } = check;
  const needsDocument = role === null || (press ?? expects) !== undefined;
  await (needsDocument ? go(path) : follow(path));
  if (press !== undefined) {
    await page.getByRole('button', { name: press }).first().click();
  }
}

/** Returns the texts that are not shown. */
async function findMissing(page: Page, texts: readonly string[]): Promise<string[]> {
  const findings: string[] = [];
  for (const text of texts) {
    const found = page.getByText(text).filter({ visible: true }).first();
    await found.waitFor().catch(() => findings.push(`does not show ${text}`));
  }
  return findings;
}

function fill(path: string, world: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(?<name>\w+)\}/g, (_, name: string) => {
    const value = world[name];
    assert.ok(value !== undefined, `the test data has no ${name}`);
    return value;
  });
}

/** The browser reports the request by which the console learns that nobody is signed in. */
const SIGNED_OUT_REQUEST = /status of 401/;

async function findOverflow(page: Page, width: number): Promise<string[]> {
  const used = await page.evaluate<number>('document.documentElement.scrollWidth');
  return used > width ? [`${width} px: needs ${used} px`] : [];
}

/** @param rules null: all  @param exclude selectors of what is not examined */
async function findViolations(
  page: Page,
  rules: readonly string[] | null,
  exclude: readonly string[],
): Promise<string[]> {
  const context = JSON.stringify({ include: [['html']], exclude: exclude.map((each) => [each]) });
  const options = JSON.stringify({
    resultTypes: ['violations'],
    // Nothing is loaded for the rules: the style sheet is of the same origin.
    preload: false,
    ...(rules === null ? {} : { runOnly: { type: 'rule', values: rules } }),
  });
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${context}, ${options})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html} ${failureSummary}`),
  );
}
