/** Checks the dashboard, and its queries with Prometheus and a running service. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { prometheus, startPrometheus } from '../../agent/test/prometheus.ts';
import { eventually } from '../../server/test/eventually.ts';
import { createExternalHome } from '../../server/test/external-service.ts';
import { createHttpClient } from '../../server/test/http-client.ts';
import {
  activate,
  anyMachine,
  anyUnknownKey,
  startTrial,
} from '../../server/test/license-steps.ts';
import { issueKeys } from '../../server/test/service-process.ts';
import { repository } from '../lib/steps.ts';
import { RULES_FILE, readAlertRules } from './alert-rules.ts';
import { DASHBOARD_FILE, renderDashboard } from './dashboard.ts';
import { ROWS } from './panels.ts';

const Panels = Type.Object({
  panels: Type.Array(
    Type.Object({
      id: Type.Integer(),
      type: Type.String(),
      title: Type.String(),
      gridPos: Type.Object({
        x: Type.Integer(),
        y: Type.Integer(),
        w: Type.Integer(),
        h: Type.Integer(),
      }),
      targets: Type.Optional(
        Type.Array(Type.Object({ expr: Type.String(), legendFormat: Type.String() })),
      ),
    }),
  ),
});

const text = await readFile(join(repository, DASHBOARD_FILE), 'utf8');
const { panels } = Parse(Panels, JSON.parse(text));

test('the dashboard is the one that npm run dashboard writes', () => {
  assert.equal(text, renderDashboard());
});

test('panels have numbers of their own, and do not overlap', () => {
  assert.ok(panels.length > 40);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      assert.ok(x < 24, title);
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.equal(taken.get(`${x} ${y}`), undefined, title);
        taken.set(`${x} ${y}`, title);
      }
    }
  }
});

test('panels show every documented metric, and no others', async () => {
  const page = await readFile(join(repository, 'docs/operations/metrics.md'), 'utf8');
  const documented = new Set(
    Array.from(page.matchAll(/`(latchkey_\w+)`/g), ([, name = '']) => name),
  );
  const used = new Set(
    Array.from(text.matchAll(/\blatchkey_\w+/g), ([name]) =>
      name.replace(/(_seconds|_size)_(?:bucket|count|sum)$/, '$1'),
    ),
  );
  // It shows when an announced key begins to sign, which concerns nobody in an incident.
  documented.delete('latchkey_signing_key_retires_timestamp_seconds');
  assert.deepEqual([...used].toSorted(), [...documented].toSorted());
});

/** A query of a panel, with the name of both. */
interface PanelQuery {
  readonly name: string;
  readonly expr: string;
}

const QUERIES: readonly PanelQuery[] = ROWS.flatMap((row) =>
  row.panels.flatMap(({ title, queries }) =>
    queries.map(({ expr, legend }) => ({ name: `${title}: ${legend}`, expr })),
  ),
);

/** Queries that may have no result in the test: nothing was sold, mailed, limited or failed, in one process, on a database server, without pools. */
const WITHOUT_DATA = new Set([
  'Attempts of jobs: {{exported_job}} {{outcome}}',
  'E-mails: {{mail}} {{outcome}}',
  'Failures of background tasks: {{task}}',
  'Free disk: Free disk',
  'Free keys of pools: {{product}}',
  'Limits of HTTP: {{limit}}',
  'Payment events: {{provider}} {{status}}',
  'Size: free disk',
  'Workers: ended',
  'Workers: {{state}}',
]);

const Answer = Type.Object({
  status: Type.Literal('success'),
  data: Type.Object({ result: Type.Array(Type.Unknown()) }),
});

const RuleStates = Type.Object({
  data: Type.Object({
    groups: Type.Array(
      Type.Object({
        rules: Type.Array(
          Type.Object({
            name: Type.String(),
            health: Type.String(),
          }),
        ),
      }),
    ),
  }),
});

describe(
  'with Prometheus and a service',
  { skip: prometheus === null ? 'needs prometheus' : false },
  () => {
    test('every query has an answer, most have data, and every rule can be evaluated', async () => {
      await using resources = new AsyncDisposableStack();
      const directory = await mkdtemp(join(tmpdir(), 'latchkey-dashboard-'));
      resources.defer(() => rm(directory, { recursive: true }));
      const external = resources.use(await createExternalHome());
      const service = await external.start();
      const run = (...args: string[]) => external.home.run(args, external.settings);
      const created = await run(
        'key',
        'create',
        '--name=prometheus',
        '--scope=metrics:read',
        '--json',
      );
      const { api_key: apiKey } = Parse(
        Type.Object({ api_key: Type.String() }),
        JSON.parse(created),
      );
      await writeFile(join(directory, 'latchkey-key'), apiKey);
      await run('backup', directory);
      const [licenseKey = ''] = await issueKeys(
        external.home,
        { count: 1, maxActivations: 2 },
        external.settings,
      );
      const client = createHttpClient(service.url);
      await startTrial(client, { machine_id: 'a machine on trial' });
      const stored = await client.post('/api/v1/events', anyBatch());
      assert.equal(stored.status, 200, stored.text);
      const server = resources.use(
        await startPrometheus(
          prometheus ?? '',
          directory,
          await configure(directory, new URL(service.url).host),
        ),
      );

      const sendRequests = async (): Promise<void> => {
        const machine = anyMachine();
        await activate(client, licenseKey, machine);
        const body = { license_key: anyUnknownKey(), machine_fingerprint: anyMachine() };
        await client.post('/api/v1/licenses/activate', body);
      };
      await sendRequests();
      let empty: readonly PanelQuery[] = QUERIES;
      const isComplete = async (): Promise<boolean> => {
        await client.get('/api/v1/licenses/nothing/activations');
        empty = await listEmpty(server.url, empty);
        return empty.every(({ name }) => WITHOUT_DATA.has(name));
      };
      const describeMissing = () => `without data: ${empty.map(({ name }) => name).join(', ')}`;
      // Most metrics are counted soon after the start, some within a minute.
      await eventually(isComplete, { describe: describeMissing, timeoutMs: 180_000 });

      const rules = await readRuleStates(server.url);
      const expected = (await readAlertRules()).map(({ alert }) => `${alert} ok`);
      assert.deepEqual(
        rules.map(({ name, health }) => `${name} ${health}`).toSorted(),
        expected.toSorted(),
      );
    });
  },
);

function anyBatch() {
  const event = {
    event_id: randomUUID(),
    name: 'app_started',
    occurred_at: new Date().toISOString(),
  };
  const ids = { install_id: randomUUID(), session_id: randomUUID() };
  return { ...ids, app_version: '2.4.0', os_version: '15.1', events: [event] };
}

/** Returns the configuration of the documents, for a service at an address, and in a hurry. */
async function configure(directory: string, address: string): Promise<string> {
  const example = await readFile(join(repository, 'deploy/prometheus/prometheus.yml'), 'utf8');
  return example
    .replaceAll(/(scrape|evaluation)_interval: 30s/g, '$1_interval: 1s')
    .replace('latchkey-alerts.yml', join(repository, RULES_FILE))
    .replace(/scheme: https\n(?=\s+static_configs:\n\s+- targets: \[license)/, 'scheme: http\n')
    .replace('license.example.com', address)
    .replaceAll('/etc/prometheus/', `${directory}/`)
    .replace(/\n  # The agents on [^]*$/, '\n');
}

/** Asks queries as Grafana does, and returns those without a result. @throws Error for one that Prometheus refuses */
async function listEmpty(url: string, queries: readonly PanelQuery[]): Promise<PanelQuery[]> {
  const answered = await Promise.all(
    queries.map(async (each) => {
      const query = each.expr
        .replaceAll('$__rate_interval', '1m')
        .replaceAll('$job', 'latchkey')
        .replaceAll('$instance', '.*');
      const response = await fetch(
        `${url}/api/v1/query?${new URLSearchParams({ query }).toString()}`,
      );
      const answer = await response.text();
      assert.equal(response.status, 200, `${each.name}: ${answer}`);
      return { each, isEmpty: Parse(Answer, JSON.parse(answer)).data.result.length === 0 };
    }),
  );
  return answered.filter(({ isEmpty }) => isEmpty).map(({ each }) => each);
}

async function readRuleStates(url: string) {
  const answer: unknown = await (await fetch(`${url}/api/v1/rules`)).json();
  return Parse(RuleStates, answer).data.groups.flatMap(({ rules }) => rules);
}
