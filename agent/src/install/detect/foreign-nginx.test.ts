import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import type { Listener } from '../facts.ts';
import type { RunProgram } from '../../system/run-program.ts';
import { createRoot, putFile } from './detect-host.fixture.ts';
import { findForeignNginx } from './foreign-nginx.ts';

const MAIN = '/etc/nginx/nginx.conf';
const MASTER = 'nginx: master process /usr/sbin/nginx';
const LISTENERS: readonly Listener[] = [
  { port: 80, address: '0.0.0.0', process: { pid: 20, name: 'nginx', unit: 'nginx.service' } },
];

test('reports an nginx with another -c, and accepts the same main file', async (t) => {
  const { put, find } = makeMachine(t);
  put('/usr/local/nginx/conf/nginx.conf', '');
  put('/etc/nginx/nginx.conf', '');
  symlinkSync('nginx.conf', put('/etc/nginx/other', '') + '.conf');
  assert.equal(
    await find(`${MASTER} -c /usr/local/nginx/conf/nginx.conf`),
    'The nginx that runs (process 20: nginx: master process /usr/sbin/nginx -c /usr/local/nginx/conf/nginx.conf) reads /usr/local/nginx/conf/nginx.conf, and the command nginx here reads /etc/nginx/nginx.conf, so changes to that configuration would not reach it.',
  );
  for (const own of [
    MASTER,
    `${MASTER} -g daemon on; master_process on;`,
    `${MASTER} -c ${MAIN}`,
    `${MASTER} -q -c${MAIN}`,
    `${MASTER} -c /etc/nginx/other.conf`,
    `/usr/sbin/nginx\0-c\0${MAIN}\0-g\0daemon off;\0`,
    '',
  ]) {
    assert.equal(await find(own), null, own);
  }
  assert.match((await find('/usr/sbin/nginx\0-c\0/srv/n.conf\0')) ?? '', / reads \/srv\/n\.conf,/u);
});

test('reports an nginx with another prefix, and resolves a relative -c below the built-in prefix', async (t) => {
  const { find } = makeMachine(t);
  assert.match((await find(`${MASTER} -p /srv/web`)) ?? '', /started with the prefix \/srv\/web,/u);
  assert.equal(await find(`${MASTER} -p /usr/share/nginx/`), null);
  assert.match((await find(`${MASTER} -c a.conf`)) ?? '', / reads \/usr\/share\/nginx\/a\.conf,/u);
  assert.equal(await find(`${MASTER} -c ../../../etc/nginx/nginx.conf`), null);
});

test('reports an nginx of another program file, and accepts one that an upgrade replaced', async (t) => {
  const { put, linkProgram, find } = makeMachine(t);
  linkProgram(put('/usr/local/nginx/sbin/nginx', 'another'));
  assert.match((await find(MASTER)) ?? '', / is another program than the command nginx here,/u);
  linkProgram('/usr/sbin/nginx (deleted)');
  assert.equal(await find(MASTER), null);
  linkProgram('/usr/local/nginx/sbin/nginx (deleted)');
  assert.match((await find(MASTER)) ?? '', / is another program/u);
});

test('compares the master of a listening worker, or the process of the unit without listeners', async (t) => {
  const { put, find } = makeMachine(t);
  put('/proc/20/status', 'Name:\tnginx\nPPid:\t30\n');
  put('/proc/30/cmdline', `${MASTER} -c /srv/n.conf`);
  assert.match(
    (await find('nginx: worker process')) ?? '',
    /process 30: .* reads \/srv\/n\.conf,/u,
  );
  assert.match((await find(`${MASTER} -c /srv/m.conf`, [])) ?? '', / reads \/srv\/m\.conf,/u);
});

test('removes control characters from a command line', async (t) => {
  const { find } = makeMachine(t);
  assert.doesNotMatch((await find(`${MASTER} -c /srv/\u001B[2J\n.conf`)) ?? '', /\p{Cc}/u);
});

const runProgram: RunProgram = async (program, args) => {
  const stderr = args.includes('-V') ? 'configure arguments: --prefix=/usr/share/nginx --x' : '';
  const stdout = program === 'systemctl' ? '20\n' : '';
  return { code: 0, fault: null, isMissing: false, stdout, stderr };
};

/** Debian's nginx, which runs as process 20. */
function makeMachine(t: TestContext) {
  const root = createRoot(t);
  const put = (path: string, text: string) => putFile(root, path, text);
  const linkProgram = (target: string) => {
    const link = join(root, 'proc/20/exe');
    rmSync(link, { force: true });
    symlinkSync(target, link);
  };
  put('/proc/20/cmdline', '');
  linkProgram(put('/usr/sbin/nginx', 'nginx'));
  const find = async (command: string, listeners = LISTENERS) => {
    put('/proc/20/cmdline', command);
    return findForeignNginx({ root, runProgram }, listeners, MAIN);
  };
  return { put, linkProgram, find };
}
