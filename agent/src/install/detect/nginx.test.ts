import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { createRoot, detect, putLink } from './detect-host.fixture.ts';

test('detects the version, files and warnings of a running nginx', async (t) => {
  const root = createRoot(t, {
    'etc/nginx/nginx.conf': 'events {}\n# configuration file /etc/passwd:\n',
    'etc/nginx/sites-available/shop': 'server { # Büro\n}',
    'etc/nginx/latin': Buffer.from('# B\xfcro\n', 'latin1'),
    'proc/net/if_inet6': '00000000000000000000000000000001 01 80 10 80 lo\n',
  });
  putLink(root, 'etc/nginx/sites-enabled/shop', join(root, 'etc/nginx/sites-available/shop'));
  const dump = [
    ['/etc/nginx/nginx.conf', 'events {}\n# configuration file /etc/passwd:\n'],
    ['/etc/nginx/sites-enabled/shop', 'server { # Büro\n}'],
    ['/etc/nginx/latin', '# B\u{FFFD}ro\n'],
  ]
    .map(([path, text]) => `# configuration file ${path}:\n${text}\n`)
    .join('');
  const warning = 'nginx: [warn] conflicting server name "a" on 0.0.0.0:80, ignored';
  const answers = {
    'nginx -v': { stderr: 'nginx version: nginx/1.22.1\n' },
    'systemctl is-active --quiet nginx.service': {},
    'nginx -T': { stdout: dump, stderr: `${warning}\nnginx: the configuration file is ok\n` },
  };
  const { nginx, hasIpv6 } = await detect(root, answers);
  assert.equal(hasIpv6, true);
  assert.deepEqual(
    [nginx?.version, nginx?.isRunning, nginx?.warnings, nginx?.fault],
    ['1.22.1', true, [warning], null],
  );
  const shop = nginx?.files.find(({ path }) => path === '/etc/nginx/sites-enabled/shop');
  assert.deepEqual(shop, {
    path: '/etc/nginx/sites-enabled/shop',
    realPath: '/etc/nginx/sites-available/shop',
    text: 'server { # Büro\n}',
    isWritable: true,
  });
  assert.equal(nginx?.files[0]?.path, '/etc/nginx/nginx.conf');
  const latin = nginx?.files.find(({ path }) => path === '/etc/nginx/latin');
  assert.equal(latin?.isWritable, false, 'writing it back would change its characters');
});

test('quotes why nginx rejects its configuration, and does not test that of a stopped nginx', async (t) => {
  const root = createRoot(t);
  const version = { stderr: 'nginx version: nginx/1.26.3 (Ubuntu)\n' };
  const broken = {
    'nginx -v': version,
    'systemctl is-active --quiet nginx.service': {},
    'nginx -T': {
      code: 1,
      stderr:
        'nginx: [warn] x\nnginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:3\nnginx: configuration file test failed\n',
    },
  };
  const facts = await detect(root, broken);
  assert.deepEqual(facts.nginx, {
    version: '1.26.3',
    isRunning: true,
    files: [],
    warnings: ['nginx: [warn] x'],
    fault: 'nginx: [emerg] unknown directive "servr" in /etc/nginx/nginx.conf:3',
    foreign: null,
  });
  const commands: string[] = [];
  const other = await detect(root, { 'nginx -v': version }, { commands });
  assert.deepEqual([other.nginx?.isRunning, other.nginx?.files], [false, []]);
  assert.ok(!commands.includes('nginx -T'));
});
