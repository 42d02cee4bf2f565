import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { parseConfig } from '../../config/load-config.ts';
import { renderAgentYaml } from './agent-yaml.ts';
import {
  renderDiskHealthScript,
  renderDiskHealthTimer,
  renderDiskHealthUnit,
} from './disk-health-units.ts';
import {
  renderPortUnit,
  renderRevocationsTimer,
  renderRevocationsUnit,
  renderServiceUnit,
} from './units.ts';
import { renderRenewalHook } from './renewal-hook.ts';

const DOMAIN = 'monitor.example.com';
const LINEAGE = `/etc/letsencrypt/live/${DOMAIN}`;

const lacksSystemd =
  spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd-analyze checks units';

test('the rendered configuration contains every given setting, and the agent reads it', async () => {
  const options = { domain: DOMAIN, mode: 'standalone', mutualTls: false } as const;
  const settings = new Map<string, unknown>([
    ['limits.connections', 7],
    ['listen', '[::]:4096'],
    ['tls.certificate_file', '/etc/latchkey-agent/tls/fullchain.pem'],
    ['tls.key_file', "/etc/own keys/it's.pem"],
    ['tls.server_name', DOMAIN],
    ['control_socket', null],
    ['viewers.tokens_file', '/etc/tokens'],
  ]);
  const text = renderAgentYaml(options, settings);
  assert.deepEqual(await parseConfig(text, 'agent.yaml'), {
    ...(await parseConfig(SMALLEST, 'smallest')),
    listen: { host: '::', port: 4096 },
    tls: {
      certificateFile: settings.get('tls.certificate_file'),
      keyFile: settings.get('tls.key_file'),
      clients: null,
    },
    serverName: DOMAIN,
    tokensFile: '/etc/tokens',
    controlSocket: null,
    maxConnections: 7,
  });
});

test('systemd accepts the units', { skip: lacksSystemd }, (t) => {
  const directory = makeDirectory(t);
  const units = {
    'latchkey-agent.service': renderServiceUnit('/usr/bin/true'),
    'latchkey-agent-disks.service': renderDiskHealthUnit('/usr/bin/true'),
    'latchkey-agent-disks.timer': renderDiskHealthTimer(),
    'latchkey-agent-port@.service': renderPortUnit(),
    'latchkey-agent-revocations.service': renderRevocationsUnit(),
    'latchkey-agent-revocations.timer': renderRevocationsTimer(),
  };
  for (const [name, text] of Object.entries(units)) {
    // The started programs must exist, and do not on every machine that runs this test.
    writeFileSync(join(directory, name), text.replaceAll('/usr/bin/latchkey-agent', '/bin/true'));
  }
  const files = Object.keys(units).map((name) => join(directory, name));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], {
    encoding: 'utf8',
  });
  assert.deepEqual(
    [status, stderr.split('\n').filter((line) => line.includes('latchkey'))],
    [0, []],
  );
});

test('the unit restricts the agent to what collectors need', () => {
  const settings = readSettings(renderServiceUnit(null));
  const expected = {
    Type: 'notify',
    NotifyAccess: 'all',
    User: 'latchkey-agent',
    ExecStart: '/usr/bin/latchkey-agent run',
    ExecReload: '/usr/bin/latchkey-agent reload',
    RuntimeDirectory: 'latchkey-agent',
    CapabilityBoundingSet: '',
    NoNewPrivileges: 'yes',
    ProtectSystem: 'strict',
    SystemCallFilter: '@system-service',
    RestrictAddressFamilies: 'AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    Restart: 'on-failure',
    RestartPreventExitStatus: '78',
    WatchdogSec: '60',
    WatchdogSignal: 'SIGKILL',
  };
  for (const [name, value] of Object.entries(expected))
    assert.equal(settings.get(name), value, name);
  // These would hide GPUs, processes of others or changes of the host name, or forbid the JIT.
  for (const name of [
    'PrivateDevices',
    'DeviceAllow',
    'ProtectClock',
    'ProtectProc',
    'ProcSubset',
    'ProtectHostname',
    'PrivateUsers',
    'MemoryDenyWriteExecute',
  ]) {
    assert.equal(settings.has(name), false, name);
  }
  assert.equal(settings.get('ProtectHome'), 'read-only');
  // systemd would retry even after its exit status 78.
  assert.equal(settings.has('ExecStartPre'), false);
});

test('the timer renews the revocation list each week, even after the machine was off', () => {
  const timer = readSettings(renderRevocationsTimer());
  assert.deepEqual([timer.get('OnCalendar'), timer.get('Persistent')], ['weekly', 'true']);
  const service = readSettings(renderRevocationsUnit());
  assert.equal(service.get('ExecStart'), '/usr/bin/latchkey-agent client-cert refresh-list');
  assert.equal(
    service.get('ReadWritePaths'),
    '/var/lib/latchkey-agent-authority /etc/latchkey-agent/pki',
  );
});

test('the renewal hook installs both files and reloads the agent', (t) => {
  const { directory, run, readCalls } = makeHost(t);
  const lineage = join(directory, 'live');
  const hook = renderRenewalHook('standalone', lineage);
  assert.equal(run(hook, '/etc/letsencrypt/live/other.example.com').status, 0);
  assert.deepEqual(readCalls(), []);
  assert.deepEqual(readdirSync(join(directory, 'tls')), []);

  const done = run(hook, lineage);
  assert.deepEqual([done.status, done.stderr], [0, '']);
  assert.equal(readFileSync(join(directory, 'tls/fullchain.pem'), 'utf8'), 'chain');
  assert.equal(readFileSync(join(directory, 'tls/privkey.pem'), 'utf8'), 'key');
  assert.deepEqual(readdirSync(join(directory, 'tls')).sort(), ['fullchain.pem', 'privkey.pem']);
  assert.deepEqual(readCalls(), [
    `install -o root -g latchkey-agent -m 0640 ${lineage}/privkey.pem ${directory}/tls/.privkey.pem.new`,
    `install -o root -g latchkey-agent -m 0640 ${lineage}/fullchain.pem ${directory}/tls/.fullchain.pem.new`,
    'systemctl is-active --quiet latchkey-agent.service',
    'systemctl reload latchkey-agent.service',
  ]);
});

test('the renewal hook never installs one of two files, and reports a failed reload', (t) => {
  const { directory, run, readCalls } = makeHost(t);
  const lineage = join(directory, 'live');
  const hook = renderRenewalHook('standalone', lineage);
  rmSync(join(lineage, 'fullchain.pem'));
  assert.notEqual(run(hook, lineage).status, 0);
  assert.ok(!readdirSync(join(directory, 'tls')).includes('privkey.pem'));
  assert.ok(!readCalls().some((call) => call.startsWith('systemctl')));
  writeFileSync(join(lineage, 'fullchain.pem'), 'chain');
  assert.equal(run(hook, lineage, { FAILS: 'reload' }).status, 1);
  assert.equal(run(hook, lineage, { FAILS: 'is-active' }).status, 0, 'no agent runs');
});

test('the renewal hook reloads nginx in proxy mode', (t) => {
  const { run, readCalls } = makeHost(t);
  const hook = renderRenewalHook('proxy', LINEAGE);
  assert.equal(run(hook, '/etc/letsencrypt/live/monitor.example.com-0001').status, 0);
  assert.equal(run(hook, '').status, 0);
  assert.deepEqual(readCalls(), []);
  assert.equal(run(hook, LINEAGE).status, 0);
  assert.deepEqual(readCalls(), [
    'systemctl is-active --quiet nginx.service',
    'systemctl reload nginx.service',
  ]);
});

const SMALLEST = `tls:
  certificate_file: /etc/latchkey-agent/tls/fullchain.pem
  key_file: /etc/latchkey-agent/tls/privkey.pem
`;

function readSettings(unit: string): ReadonlyMap<string, string> {
  const lines = unit.split('\n').filter((line) => !line.startsWith('#'));
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^(\w+)=(.*)$/u.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

function makeDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-files-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Creates directories for certificates, and programs that record their calls. */
function makeHost(t: TestContext) {
  const directory = makeDirectory(t);
  const calls = join(directory, 'calls');
  for (const name of ['bin', 'tls', 'live']) mkdirSync(join(directory, name));
  writeFileSync(join(directory, 'live/fullchain.pem'), 'chain');
  writeFileSync(join(directory, 'live/privkey.pem'), 'key');
  const note = `echo "\${0##*/} $*" >>'${calls}'`;
  makeProgram('systemctl', `${note}\n[ "$1" != "\${FAILS:-}" ]`);
  makeProgram('nginx', note);
  makeProgram('install', `${note}\ncp "$7" "$8"`);
  return { directory, run, readCalls };

  function makeProgram(name: string, script: string): void {
    const path = join(directory, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  function run(hook: string, renewed: string, environment: Readonly<Record<string, string>> = {}) {
    const script = hook.replaceAll('/etc/latchkey-agent/tls', join(directory, 'tls'));
    const path = join(directory, 'bin') + delimiter + (process.env['PATH'] ?? '');
    const env = { ...process.env, ...environment, PATH: path, RENEWED_LINEAGE: renewed };
    return spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
  }

  function readCalls(): string[] {
    execFileSync('touch', [calls]);
    const lines = readFileSync(calls, 'utf8').split('\n').slice(0, -1);
    return lines;
  }
}

test('the script writes the health of each disk with the exit status of smartctl', (t) => {
  const directory = makeDirectory(t);
  const places = { sys: `${directory}/sys`, dev: `${directory}/dev`, output: `${directory}/out` };
  for (const place of Object.values(places)) mkdirSync(place);
  for (const disk of ['sda', 'nvme0n1', 'vda', 'sdz']) mkdirSync(join(places.sys, disk));
  for (const disk of ['sda', 'nvme0n1', 'vda']) writeFileSync(join(places.dev, disk), '');
  const smartctl = join(directory, 'smartctl');
  const program =
    '#!/bin/sh\nfor last; do :; done\ncat <<E\n{"a": "50 % \\u0041 $last"}\nE\nexit 7\n';
  writeFileSync(smartctl, program, { mode: 0o755 });
  execFileSync('sh', ['-c', renderDiskHealthScript(smartctl, places)]);
  assert.deepEqual(readdirSync(places.output).sort(), ['nvme0n1.json', 'sda.json']);
  const [status, json = ''] = readFileSync(join(places.output, 'sda.json'), 'utf8').split('\n');
  assert.equal(status, '7');
  assert.equal(json, `{"a": "50 % \\u0041 ${places.dev}/sda"}`);
});

test('the script skips an idle disk and keeps its reading', (t) => {
  const directory = makeDirectory(t);
  const places = { sys: `${directory}/sys`, dev: `${directory}/dev`, output: `${directory}/out` };
  for (const place of Object.values(places)) mkdirSync(place);
  mkdirSync(join(places.sys, 'sda'));
  writeFileSync(join(places.dev, 'sda'), '');
  const [smartctl, counters] = [join(directory, 'smartctl'), join(places.sys, 'sda/stat')];
  const [reading, confirmation] = ['sda.json', 'sda.stat'].map((name) => join(places.output, name));
  assert.ok(reading !== undefined && confirmation !== undefined);
  const answer = (status: number, text: string): void =>
    writeFileSync(smartctl, `#!/bin/sh\necho ${text}\nexit ${status}\n`, { mode: 0o755 });
  const run = () => execFileSync('sh', ['-c', renderDiskHealthScript(smartctl, places)]);
  const read = () => readFileSync(reading, 'utf8').split('\n').slice(0, 2);
  const past = new Date('2026-11-21T10:00:00Z');

  writeFileSync(counters, '1 0 8\n');
  answer(2, 'failed');
  run();
  answer(8, 'first');
  run();
  assert.deepEqual(read(), ['8', 'first'], 'a failed reading is repeated');
  for (const path of [reading, confirmation]) utimesSync(path, past, past);
  answer(0, 'second');
  run();
  assert.deepEqual(read(), ['8', 'first']);
  assert.equal(statSync(reading).mtime.getTime(), past.getTime());
  assert.ok(statSync(confirmation).mtime > past);
  writeFileSync(counters, '2 0 16\n');
  run();
  assert.deepEqual(read(), ['0', 'second']);
});

test('the unit of the script has no network and opens disks only', () => {
  const unit = renderDiskHealthUnit('/usr/sbin/smartctl');
  for (const line of ['PrivateNetwork=yes', 'DevicePolicy=closed', 'NoNewPrivileges=yes'])
    assert.ok(unit.includes(`\n${line}\n`), line);
  // systemd expands $ and %.
  assert.match(unit, /n=\$\$\{d##\*\/\}/u);
  assert.match(unit, /printf "%%s\\n%%s\\n" \$\$s/u);
});

test('the unit creates NVIDIA devices where the driver is installed', () => {
  assert.doesNotMatch(renderServiceUnit(null), /ExecStartPre|nvidia-modprobe/u);
  assert.match(
    renderServiceUnit('/usr/bin/nvidia-modprobe'),
    /^ExecStartPre=-\+\/bin\/sh -c '.*\/usr\/bin\/nvidia-modprobe -c \$\$i;.*\/usr\/bin\/nvidia-modprobe -u'$/mu,
  );
});
