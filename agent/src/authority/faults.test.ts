import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { AuthorityFixture, copyAuthority } from '../../test/authority-fixture.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import { emptyPrograms } from '../../test/programs.ts';
import type { RunProgram } from '../system/run-program.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import type { AuthorityContext } from './context.ts';
import { createClient, revokeClient } from './clients.ts';
import { ensureAuthority } from './ensure-authority.ts';
import { refreshList } from './renewal.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

describe('interruptions of the authority', { skip: lacksOpenssl }, () => {
  let fixture: AuthorityFixture;
  beforeEach(async () => {
    fixture = await copyAuthority();
  });
  afterEach(() => fixture[Symbol.dispose]());

  /** Returns a context whose programs are replaced by `change`. */
  function interceptPrograms(
    change: (args: string, run: () => ReturnType<RunProgram>) => ReturnType<RunProgram>,
  ) {
    const { paths, clock, randomBytes, runProgram } = fixture;
    const context: AuthorityContext = {
      paths,
      clock,
      randomBytes,
      runProgram: async (program, args, options) =>
        change(args.join(' '), async () => runProgram(program, args, options)),
    };
    return context;
  }

  const order = (name: string) => ({ name, days: 365, output: fixture.output });

  for (const step of ['req -new', 'ca -batch -notext', 'pkcs12 -export', '-gencrl']) {
    test(`keeps the old certificate valid and writes no bundle when "openssl ${step}" fails`, async () => {
      const before = fixture.unpack(await fixture.create('anna'));
      rmSync(join(fixture.output, 'anna.tar.gz'));
      const broken = interceptPrograms(async (args, run) => {
        if (!args.includes(step)) return run();
        return { code: 1, stdout: '', stderr: 'no\nrandomness\n', fault: null, isMissing: false };
      });
      await assert.rejects(createClient(broken, order('anna')), {
        message: `openssl ${step.startsWith('-') ? 'ca' : step.split(' ')[0]} failed: no; randomness`,
      });
      assert.match(fixture.verify(`${before.directory}/client.pem`), /: OK$/u);
      assert.deepEqual(readdirSync(fixture.output), []);
      assert.deepEqual(readdirSync(fixture.paths.authority).sort(), [
        'ca.key',
        'ca.pem',
        'lock',
        'register.json',
      ]);
      assert.deepEqual(fixture.listCertificates(), ['Latchkey proxy valid', 'anna valid']);
      const after = fixture.unpack(await fixture.create('anna'));
      assert.match(fixture.verify(`${after.directory}/client.pem`), /: OK$/u);
      assert.equal(fixture.verify(`${before.directory}/client.pem`), 'certificate revoked');
    });
  }

  test('revokes a certificate whose command was killed before it wrote the bundle', async () => {
    using programs = emptyPrograms();
    const kept = join(fixture.root, 'signed.pem');
    const signed = join(fixture.paths.authority, 'work', 'signed.pem');
    programs.write(
      'openssl',
      `case "$1" in pkcs12) cp '${signed}' '${kept}'; kill -9 $PPID; exit 1;; esac\nPATH=/usr/bin:/bin exec openssl "$@"`,
    );
    const PATH = `${programs.searchPath}:${process.env['PATH']}`;
    const args = ['client-cert', 'create', 'anna', '--root', fixture.root, '-o', fixture.output];
    const signal = await new Promise((resolve) => {
      execFile(process.execPath, [MAIN, ...args], { env: { ...process.env, PATH } }, (error) =>
        resolve(error?.signal),
      );
    });
    assert.equal(signal, 'SIGKILL');
    assert.equal(new X509Certificate(readFileSync(kept)).subject, 'CN=anna');
    assert.match(fixture.verify(kept), /: OK$/u);
    assert.deepEqual(fixture.listCertificates(), ['Latchkey proxy valid']);
    await fixture.create('berta');
    assert.equal(fixture.verify(kept), 'certificate revoked');
    assert.deepEqual(fixture.listCertificates(), [
      'Latchkey proxy valid',
      'anna revoked',
      'berta valid',
    ]);
    assert.equal(existsSync(join(fixture.paths.authority, 'work')), false);
  });

  test('adds a revocation to the list with the next command when its list could not be written', async () => {
    const { directory } = fixture.unpack(await fixture.create('anna'));
    const { revocations } = fixture.paths;
    const before = readFileSync(revocations);
    const obstructed = interceptPrograms(async (args, run) => {
      const result = await run();
      if (args.includes('-gencrl')) {
        rmSync(revocations);
        mkdirSync(revocations);
      }
      return result;
    });
    await assert.rejects(revokeClient(obstructed, 'anna'), { code: 'EISDIR' });
    rmSync(revocations, { recursive: true });
    writeFileSync(revocations, before);
    assert.match(fixture.verify(`${directory}/client.pem`), /: OK$/u);
    await assert.rejects(revokeClient(fixture, 'anna'), /was revoked on/u);
    assert.equal(fixture.verify(`${directory}/client.pem`), 'certificate revoked');
  });

  test('increments the number of the list, even past a list that is newer than the register', async () => {
    const { authority, revocations, authorityCertificate } = fixture.paths;
    const backup = readFileSync(join(authority, 'register.json'));
    const numbers = [];
    for (let round = 0; round < 20; round += 1) numbers.push((await refreshList(fixture)).number);
    assert.deepEqual(
      numbers,
      Array.from({ length: 20 }, (_, index) => index + 2),
    );
    writeFileSync(join(authority, 'register.json'), backup);
    assert.equal(await fixture.ensure(), true);
    assert.equal((await refreshList(fixture)).number, 23);
    const clients = { authorityFile: authorityCertificate, revocationFile: revocations };
    const { proxyCertificate, proxyCertificateKey } = fixture.paths;
    const files = { certificateFile: proxyCertificate, keyFile: proxyCertificateKey, clients };
    const nextUpdate = readTlsMaterial(files).clients?.revocations.nextUpdate;
    assert.equal(nextUpdate?.getTime(), fixture.nowMs + 400 * 86_400_000);
  });

  test('creates the authority after a creation that was interrupted at any step', async () => {
    for (const step of ['req -new', '-selfsign', '-gencrl', '-extensions client']) {
      using fresh = new AuthorityFixture();
      const { paths, clock, randomBytes, runProgram } = fresh;
      const broken: RunProgram = async (program, args, options) => {
        if (args.join(' ').includes(step)) throw new Error('stopped');
        return runProgram(program, args, options);
      };
      const context = { paths, clock, randomBytes, runProgram: broken };
      const request = { domain: 'a.example', withProxyCertificate: true };
      await assert.rejects(ensureAuthority(context, request), { message: 'stopped' });
      assert.equal(await fresh.ensure(), true);
      const { directory } = fresh.unpack(await fresh.create('anna'));
      assert.match(fresh.verify(`${directory}/client.pem`), /: OK$/u);
      assert.match(fresh.verify(paths.proxyCertificate), /: OK$/u);
    }
  });
});
