/** Checks the alert rules with Prometheus' tool, and that rules and documents belong together. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { findProgram } from '../../agent/src/read/small-file.ts';

import { promtool } from '../../agent/test/prometheus.ts';
import { anchorOf } from '../lib/anchors.ts';
import { repository } from '../lib/steps.ts';
import type { AlertCase, Series } from './alert-case.ts';
import { ALERT_CASES } from './alert-cases.ts';
import { RULES_FILE, readAlertRules } from './alert-rules.ts';

const amtool = findProgram('amtool', process.env['PATH'] ?? '');

const RUNBOOK = 'docs/operations/incidents.md';
const rules = await readAlertRules();
const names = rules.map(({ alert }) => alert);

const directory = await mkdtemp(join(tmpdir(), 'latchkey-alerts-'));
after(() => rm(directory, { recursive: true }));

function runPromtool(...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool ?? '', args, { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

describe('promtool', { skip: promtool === null ? 'needs promtool' : false }, () => {
  test('finds nothing wrong with the rules', () => {
    runPromtool('check', 'rules', '--lint-fatal', join(repository, RULES_FILE));
  });

  test('finds nothing wrong with the configuration', () => {
    const file = join(repository, 'deploy/prometheus/prometheus.yml');
    runPromtool('check', 'config', '--syntax-only', file);
  });

  test(
    'amtool accepts the configuration of Alertmanager',
    { skip: amtool === null ? 'needs amtool' : false },
    () => {
      const file = join(repository, 'deploy/prometheus/alertmanager.yml');
      const { status, stdout, stderr } = spawnSync(amtool ?? '', ['check-config', file], {
        encoding: 'utf8',
      });
      assert.equal(status, 0, `${stdout}${stderr}`);
    },
  );

  for (const [interval = '1m', cases] of groupByInterval()) {
    test(`fires alerts when it should, after their time, and not otherwise, every ${interval}`, async () => {
      const together = cases.filter(([alert]) => alert !== 'LatchkeyMissing');
      const content = {
        rule_files: [join(repository, RULES_FILE)],
        evaluation_interval: interval,
        tests: [
          combine(interval, together.flatMap(toRuns)),
          // It fires without a series, so that it needs a separate Prometheus.
          ...cases
            .filter((each) => !together.includes(each))
            .flatMap(toRuns)
            .map((run) => combine(interval, [run])),
        ],
      };
      const file = join(directory, `${interval}.test.yml`);
      await writeFile(file, JSON.stringify(content));
      runPromtool('test', 'rules', file);
    });
  }
});

function groupByInterval() {
  return Map.groupBy(Object.entries(ALERT_CASES), ([, { interval }]) => interval);
}

/** Series that are scraped, and what is expected of their alert. */
interface Run {
  readonly alert: string;
  /** What it does, and when. */
  readonly name: string;
  readonly series: Series;
  readonly expected: readonly { readonly at: string; readonly count: 0 | 1 }[];
}

function toRuns([alert, each]: [string, AlertCase]): Run[] {
  const { fires, silent, at = '10m', notYetAt, also = [] } = each;
  const early = notYetAt === undefined ? [] : [{ at: notYetAt, count: 0 as const }];
  return [
    { alert, name: 'fires', series: fires, expected: [...early, { at, count: 1 }] },
    { alert, name: 'is silent', series: silent, expected: [{ at, count: 0 }] },
    ...also.map((further) => ({
      alert,
      name: `${further.fires ? 'fires' : 'is silent'} ${further.when}`,
      series: further.series,
      expected: [{ at: further.at, count: further.fires ? (1 as const) : (0 as const) }],
    })),
  ];
}

/** Returns a test of promtool with several runs, each with separate jobs: a test for each run takes ten times as long. */
function combine(interval: string, runs: readonly Run[]) {
  return {
    name: runs.map(({ alert, name }) => `${alert} ${name}`).join(', '),
    interval,
    input_series: runs.flatMap(({ alert, name, series }) =>
      Object.entries(series).map(([each, values]) => ({
        series: each.replaceAll(/job="([^"]+)"/g, `job="$1-${alert} ${name}"`),
        values,
      })),
    ),
    promql_expr_test: runs.flatMap(({ alert, name, expected }) => {
      const job = alert === 'LatchkeyMissing' ? '' : `,job=~".*-${alert} ${name}"`;
      const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"${job}})`;
      return expected.map(({ at, count }) => ({
        expr,
        eval_time: at,
        exp_samples: count === 0 ? [] : [{ labels: '{}', value: count }],
      }));
    }),
  };
}

test('every alert has a case that fires and one that does not', () => {
  assert.ok(names.length > 30);
  assert.deepEqual(Object.keys(ALERT_CASES).toSorted(), names.toSorted());
  assert.equal(new Set(names).size, names.length);
  const waiting = rules.filter((rule) => rule.for !== undefined).map(({ alert }) => alert);
  const tested = names.filter((name) => ALERT_CASES[name]?.notYetAt !== undefined);
  assert.deepEqual(tested, waiting);
});

test('every alert has a section of incidents.md, and every section an alert', async () => {
  const page = await readFile(join(repository, RUNBOOK), 'utf8');
  const sections = [...page.matchAll(/^#+ (Latchkey\w+)$/gm)].map(([, name = '']) => name);
  assert.deepEqual(sections.toSorted(), names.toSorted());
  for (const { alert, annotations } of rules) {
    assert.equal(annotations.runbook, `${RUNBOOK}#${anchorOf(alert)}`);
  }
});

test('rules use only documented metrics', async () => {
  const page = await readFile(join(repository, 'docs/operations/metrics.md'), 'utf8');
  const documented = new Set(Array.from(page.matchAll(/`(latchkey_\w+)`/g), ([, name]) => name));
  const used = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/\blatchkey_\w+/g)].map(([name]) => name),
  );
  const unknown = used
    .map((name) => name.replace(/_seconds_(?:bucket|count|sum)$/, '_seconds'))
    // The metric of the agent, which agent.md describes.
    .filter((name) => name !== 'latchkey_notice' && !documented.has(name));
  assert.deepEqual([...new Set(unknown)], []);
});
