import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, readFile, readlink, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { findPostmaster } from '#server/db/embedded/postmaster.ts';

import { eventually } from '../eventually.ts';
import { createServiceHome, type ServiceHome, type ServiceProcess } from '../service-process.ts';

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const NOBODY = 65_534;
const NO_PRIVILEGES = '0000000000000000';

const onlyRoot = {
  skip: process.platform === 'linux' && process.getuid?.() === 0 ? false : 'needs root on Linux',
};

/** Reads the account and privileges of a process (proc_pid_status(5)). */
async function readCredentials(pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): string =>
    new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(status)?.[1] ?? '';
  return { uids: field('Uid').split('\t'), groups: field('Groups'), effective: field('CapEff') };
}

async function requireWorking(service: ServiceProcess): Promise<void> {
  for (const path of ['/api/v1/health/ready', '/docs/swagger-ui-bundle.js', '/openapi.json']) {
    assert.equal((await fetch(`${service.url}${path}`)).status, 200, path);
  }
}

describe('the service that root starts', onlyRoot, () => {
  let home: ServiceHome;
  let cluster = '';
  let service: ServiceProcess;

  before(async () => {
    home = await createServiceHome();
    cluster = join(home.dataDirectory, 'postgres');
    service = await home.start();
  });
  after(() => home[Symbol.asyncDispose]());

  test('drops root after the start', async () => {
    const postmaster = (await findPostmaster(cluster)) ?? 0;
    const { uid: owner, gid } = await stat(cluster);
    assert.ok(owner !== 0 && owner !== NOBODY);
    for (const pid of [service.pid, postmaster]) {
      const { uids, effective } = await readCredentials(pid);
      assert.deepEqual(new Set(uids), new Set([String(owner)]));
      assert.equal(effective, NO_PRIVILEGES);
    }
    assert.equal((await readCredentials(service.pid)).groups, String(gid));
  });

  test('prevents other accounts from reading the database and the secret', async () => {
    const postmaster = (await findPostmaster(cluster)) ?? 0;
    assert.equal(await readlink(`/proc/${postmaster}/cwd`), cluster);
    for (const command of [
      ['readlink', `/proc/${postmaster}/cwd`],
      ['ls', `/proc/${postmaster}/cwd/`],
      ['ls', home.dataDirectory],
      ['cat', join(home.dataDirectory, 'secret')],
      ['ls', cluster],
    ] as const) {
      const [program, ...args] = command;
      const other = { uid: NOBODY, gid: NOBODY, cwd: '/' };
      await assert.rejects(run(program, args, other), /Permission denied|Command failed/, program);
    }
  });

  for (const start of ['the first', 'a second']) {
    test(`restarts the database, reloads and stops after dropping root in ${start} start`, async () => {
      await requireWorking(service);
      process.kill((await findPostmaster(cluster)) ?? 0, 'SIGKILL');
      await service.waitForLine(/"postgres.restarted"/);
      await eventually(async () => (await fetch(`${service.url}/api/v1/health/ready`)).ok);
      service.send('SIGHUP');
      await service.waitForLine(/catalog\.reloaded/u);
      assert.deepEqual(await service.stop(), { code: 0, signal: null });
      if (start === 'the first') service = await home.start();
    });
  }
});

test('starts from directories that only root may enter', mountOptions(), async () => {
  // Like a clone below /root: a bind mount in a directory of root, in a mount namespace.
  const hidden = join(tmpdir(), 'only-root');
  await mkdir(hidden, { recursive: true });
  const { stdout } = await run('unshare', [
    '--mount',
    'bash',
    '-euc',
    START_HIDDEN,
    'bash',
    hidden,
    REPOSITORY,
  ]);
  const [uid, ready, docs] = stdout.trim().split('\n');
  assert.notEqual(uid, '0');
  assert.deepEqual([ready, docs], ['200', '200']);
});

function mountOptions() {
  if (onlyRoot.skip !== false) return onlyRoot;
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return { skip: false };
  } catch {
    return { skip: 'mount namespaces are not allowed' };
  }
}

/** Prints the service's user id and two status codes. */
const START_HIDDEN = `
  hidden=$1 repository=$2
  mount -t tmpfs -o mode=700 tmpfs "$hidden"
  mkdir "$hidden/clone"
  mount --bind "$repository" "$hidden/clone"
  cd "$hidden/clone"
  LATCHKEY_PORT=0 LATCHKEY_DATA_DIR="$hidden/data" "${process.execPath}" server/src/main.ts serve >"$hidden/log" 2>&1 &
  service=$!
  for _ in $(seq 600); do grep -q 'Latchkey listens on' "$hidden/log" && break; sleep 0.1; done
  url=$(sed -n 's/.*"url":"\\([^"]*\\)".*/\\1/p' "$hidden/log" | tail -n 1)
  awk '/^Uid:/ { print $2 }' "/proc/$service/status"
  "${process.execPath}" --input-type=module -e 'for (const url of process.argv.slice(1)) console.log((await fetch(url)).status)' \\
    "$url/api/v1/health/ready" "$url/docs/docs.js"
  kill "$service"
  wait "$service" || true
`;
