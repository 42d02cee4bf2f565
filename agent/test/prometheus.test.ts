/** Checks `/metrics` with Prometheus and its tool, and the configuration of the document. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { AgentSnapshot } from '@latchkey/contract';

import { toMetricsText } from '#agent/formats/openmetrics.ts';
import { findNotices } from '#agent/notices.ts';
import { openAccessTokens } from '#agent/stream/admission.ts';
import { readTlsMaterial } from '#agent/tls/tls-files.ts';

import { CertificateFixture, lacksOpenssl } from './certificates.ts';
import { exampleHost, exampleSnapshot } from './example-snapshot.ts';
import { prometheus, promtool, startPrometheus } from './prometheus.ts';
import { openStream } from './stream-harness.ts';

const TOKEN = 'a-token-of-many-letters';

const snapshot: AgentSnapshot = {
  ...exampleSnapshot,
  filesystems: [
    ...(exampleSnapshot.filesystems ?? []),
    {
      mount_point: '/a "quoted" \\ name',
      device: 'x',
      type: 'ext4',
      read_only: false,
      usage_ratio: 1,
    },
  ],
  gpus: [{ vendor: 'nvidia', index: 0, usage_ratio: 0.5, temperature_celsius: 61 }],
};
const notices = findNotices(snapshot);
const directory = mkdtempSync(join(tmpdir(), 'latchkey-prometheus-'));
after(() => rmSync(directory, { recursive: true }));

const skip = promtool === null ? 'needs promtool' : false;

test('promtool finds nothing to improve', { skip }, () => {
  const input = toMetricsText(snapshot, exampleHost, notices, 'text');
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], { input });
  assert.deepEqual([status, String(stdout), String(stderr)], [0, '', '']);
});

test("Prometheus' strict parser of OpenMetrics reads every sample", { skip }, () => {
  const text = toMetricsText(snapshot, exampleHost, notices, 'openmetrics');
  const samples = text.split('\n').filter((line) => /^[a-z]/u.test(line));
  // The importer of blocks needs a time for each sample.
  const file = join(directory, 'metrics.txt');
  writeFileSync(file, text.replaceAll(/^[a-z].*$/gmu, '$& 1700000000'));
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', file, join(directory, 'blocks')];
  const output = execFileSync(promtool ?? '', args, { encoding: 'utf8' });
  assert.equal(/1ms +(?<samples>\d+) /u.exec(output)?.groups?.['samples'], String(samples.length));
});

test('promtool accepts the configuration of the document', { skip }, () => {
  const document = readFileSync(new URL('../../docs/operations/agent.md', import.meta.url), 'utf8');
  const blocks = [...document.matchAll(/```yaml\n(?<text>scrape_configs:[^]*?)```/gu)];
  assert.equal(blocks.length, 1);
  const file = join(directory, 'document.yml');
  writeFileSync(file, blocks[0]?.groups?.['text'] ?? '');
  const args = ['check', 'config', '--syntax-only', file];
  assert.match(execFileSync(promtool ?? '', args, { encoding: 'utf8' }), /is valid/u);
});

const lacksServer = prometheus === null ? 'needs prometheus' : lacksOpenssl;

describe('Prometheus', { skip: lacksServer }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  let root: ReturnType<CertificateFixture['createRoot']>;
  before(() => void (root = fixture.createRoot('root')));

  test('scrapes with a token or a certificate, and is refused without', async () => {
    const { certificateFile: authority } = root.own;
    const clients = { authorityFile: authority, revocationFile: null };
    const tls = readTlsMaterial({ ...root.issueServer(), clients });
    const rules = { isToken: openAccessTokens([TOKEN]), allowedOrigins: new Set<string>() };
    await using stream = await openStream({ tls, readRules: () => rules });
    const ticking = setInterval(() => stream.hub.tick(), 50);
    const { certificateFile, keyFile } = root.issueClient('scraper');
    const target = `scheme: https\n    static_configs: [{ targets: ['127.0.0.1:${stream.port}'] }]`;
    await using server = await startPrometheus(
      prometheus ?? '',
      directory,
      `global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: token
    ${target}
    tls_config: { ca_file: ${authority} }
    authorization: { credentials: ${TOKEN} }
  - job_name: certificate
    ${target}
    tls_config: { ca_file: ${authority}, cert_file: ${certificateFile}, key_file: ${keyFile} }
  - job_name: neither
    ${target}
    tls_config: { ca_file: ${authority} }
`,
    );
    try {
      const up = await server.waitForValues(
        'up',
        (values) =>
          values.get('token') === '1' && values.get('certificate') === '1' && values.has('neither'),
      );
      assert.equal(up.get('neither'), '0');
      const idle = 'system_cpu_time_seconds_total{cpu_mode="idle"}';
      const times = await server.waitForValues(idle, ({ size }) => size === 2);
      assert.deepEqual([...times.values()], ['900', '900']);
    } finally {
      clearInterval(ticking);
    }
  });
});
