import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { AuthorityWorkshop, request } from '../../test/authority-workshop.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import type { AuthorityContext } from './context.ts';
import { ensureAuthority, isAuthorityReady } from './ensure-authority.ts';
import { refreshList } from './renewal.ts';

const show = (path: string): string =>
  execFileSync('openssl', ['x509', '-in', path, '-noout', '-text'], { encoding: 'utf8' });

describe('ensureAuthority', { skip: lacksOpenssl }, () => {
  let workshop: AuthorityWorkshop;
  beforeEach(() => {
    workshop = new AuthorityWorkshop();
  });
  afterEach(() => workshop[Symbol.dispose]());

  test('creates an authority for certificates and revocation lists, valid for ten years', async () => {
    assert.equal(await workshop.ensure(), true);
    const path = workshop.paths.authorityCertificate;
    const { ca, subject, validFromDate, validToDate } = new X509Certificate(readFileSync(path));
    assert.equal(ca, true);
    assert.match(subject, /^O=db-1\.example\.com\nCN=Latchkey agent clients [0-9a-f]{8}$/u);
    assert.equal(validFromDate.getTime(), workshop.nowMs - 3_600_000);
    assert.equal(validToDate.getTime(), workshop.nowMs + 3_652 * 86_400_000);
    const text = show(path);
    assert.match(text, /Basic Constraints: critical\n\s+CA:TRUE, pathlen:0\n/u);
    assert.match(text, /Key Usage: critical\n\s+Certificate Sign, CRL Sign\n/u);
    assert.match(text, /NIST CURVE: P-256\n[^]*Signature Algorithm: ecdsa-with-SHA256\n/u);
  });

  test('makes keys and register readable by root only, and published files by everyone', async () => {
    process.umask(0o077);
    await workshop.ensure();
    process.umask(0o022);
    assert.deepEqual(workshop.listModes(), {
      'etc/latchkey-agent/pki/ca.pem': '644',
      'etc/latchkey-agent/pki/crl.pem': '644',
      'etc/latchkey-agent/pki/proxy.key': '600',
      'etc/latchkey-agent/pki/proxy.pem': '644',
      'var/lib/latchkey-agent-authority/ca.key': '600',
      'var/lib/latchkey-agent-authority/ca.pem': '600',
      'var/lib/latchkey-agent-authority/lock': '600',
      'var/lib/latchkey-agent-authority/register.json': '600',
    });
    assert.equal(statSync(workshop.paths.authority).mode & 0o777, 0o700);
    assert.equal(statSync(join(workshop.root, 'etc/latchkey-agent/pki')).mode & 0o777, 0o755);
  });

  test('touches no file of a consistent authority', async () => {
    await workshop.ensure();
    const before = workshop.listFiles();
    workshop.passDays(1);
    assert.equal(await workshop.ensure(), false);
    assert.deepEqual(workshop.listFiles(), before);
  });

  test('isAuthorityReady reports missing work without writing', async () => {
    const isReady = async (changes = {}) => isAuthorityReady(workshop, { ...request, ...changes });
    const { paths } = workshop;
    assert.equal(await isReady(), false);
    await workshop.ensure({ withProxyCertificate: false });
    assert.equal(await isReady(), false);
    assert.equal(await isReady({ withProxyCertificate: false }), true);
    await workshop.ensure();
    const before = workshop.listFiles();
    assert.equal(await isReady(), true);
    const { domain } = request;
    const unnamed = { domain, withProxyCertificate: true };
    assert.equal(await isAuthorityReady(workshop, unnamed), true);
    assert.equal(await isReady({ address: 'wss://db-1.example.com:4096' }), false);
    assert.equal(await isReady({ domain: 'db-2.example.com' }), false);
    assert.deepEqual(workshop.listFiles(), before);
    for (const path of [paths.authorityCertificate, paths.revocations, paths.proxyCertificate]) {
      rmSync(path);
      assert.equal(await isReady(), false, path);
      await workshop.ensure();
      assert.equal(await isReady(), true, path);
    }
    chmodSync(paths.authority, 0o755);
    assert.equal(await isReady(), false);
    await workshop.ensure();
    assert.equal(await isReady(), true);
    workshop.passDays(306);
    assert.equal(await isReady(), false);
    assert.equal(await isReady({ withProxyCertificate: false }), true);
  });

  test('replaces missing and foreign files, and keeps its key', async () => {
    using other = new AuthorityWorkshop();
    await other.ensure();
    await workshop.ensure();
    const created = await workshop.create('anna');
    const { directory } = workshop.unpack(created);
    copyFileSync(other.paths.authorityCertificate, workshop.paths.authorityCertificate);
    copyFileSync(other.paths.revocations, workshop.paths.revocations);
    rmSync(workshop.paths.proxyCertificateKey);
    assert.equal(await workshop.ensure(), true);
    assert.equal(workshop.verify(join(directory, 'client.pem')), `${directory}/client.pem: OK`);
    const { proxyCertificate } = workshop.paths;
    assert.equal(workshop.verify(proxyCertificate), `${proxyCertificate}: OK`);
    assert.equal(await workshop.ensure(), false);
    rmSync(workshop.paths.revocations);
    assert.equal(await workshop.ensure(), true);
    assert.equal(await workshop.ensure(), false);
  });

  test('ignores the files of an interrupted creation', async () => {
    await workshop.ensure();
    rmSync(join(workshop.paths.authority, 'register.json'));
    assert.equal(await workshop.ensure(), true);
    const { proxyCertificate } = workshop.paths;
    assert.equal(workshop.verify(proxyCertificate), `${proxyCertificate}: OK`);
  });

  test('rejects a missing key and a damaged register instead of creating a new authority', async () => {
    await workshop.ensure();
    const { authority } = workshop.paths;
    writeFileSync(join(authority, 'register.json'), '{"format":1}');
    await assert.rejects(workshop.ensure(), {
      name: 'AuthorityError',
      message: `${authority}/register.json is damaged: restore it from a backup of ${authority}.`,
    });
    rmSync(join(authority, 'register.json'));
    await workshop.ensure();
    rmSync(join(authority, 'ca.key'));
    await assert.rejects(workshop.ensure(), {
      message: `${authority}/ca.key is missing: restore it from a backup, or remove ${authority} and run "latchkey-agent install" to create a new authority.`,
    });
  });

  test('reports missing openssl, and creates the authority once openssl is installed', async () => {
    const result = { code: null, stdout: '', stderr: '', fault: 'No.', isMissing: true };
    const { paths, clock, randomBytes } = workshop;
    const lacking = { paths, clock, randomBytes, runProgram: async () => result };
    const unnamed = { domain: 'a.example', withProxyCertificate: false };
    await assert.rejects(ensureAuthority(lacking, unnamed), {
      message: 'openssl is not installed: run "apt install openssl".',
    });
    assert.equal(await workshop.ensure(), true);
  });

  test('rejects an invalid domain', async () => {
    await assert.rejects(workshop.ensure({ domain: 'a/CN=b' }), {
      message: '"a/CN=b" is not a valid domain for an authority.',
    });
  });

  test('renews the certificate of the proxy in its last 60 days, with the same key', async () => {
    await workshop.ensure();
    const { proxyCertificate, proxyCertificateKey } = workshop.paths;
    const read = () => new X509Certificate(readFileSync(proxyCertificate));
    const [first, key] = [read(), readFileSync(proxyCertificateKey, 'utf8')];
    workshop.passDays(304);
    assert.deepEqual(await refreshList(workshop), { number: 2, isProxyRenewed: false });
    workshop.passDays(2);
    assert.deepEqual(await refreshList(workshop), { number: 3, isProxyRenewed: true });
    const second = read();
    assert.equal(readFileSync(proxyCertificateKey, 'utf8'), key);
    assert.deepEqual(
      second.publicKey.export({ format: 'jwk' }),
      first.publicKey.export({ format: 'jwk' }),
    );
    assert.notEqual(second.serialNumber, first.serialNumber);
    assert.equal(second.validToDate.getTime(), workshop.nowMs + 365 * 86_400_000);
    // nginx presents the previous one until it is reloaded.
    const kept = join(workshop.root, 'first.pem');
    writeFileSync(kept, first.toString());
    assert.equal(workshop.verify(kept), `${kept}: OK`);
    assert.deepEqual(await refreshList(workshop), { number: 4, isProxyRenewed: false });
  });

  test('renews a revocation list before its expiry', async () => {
    await workshop.ensure();
    workshop.passDays(339);
    assert.equal(await workshop.ensure({ withProxyCertificate: false }), false);
    workshop.passDays(2);
    assert.equal(await workshop.ensure({ withProxyCertificate: false }), true);
  });

  test('creates a revocation list of the same lifetime with OpenSSL 1.1', async () => {
    const { runProgram } = workshop;
    const { paths, clock, randomBytes } = workshop;
    const context: AuthorityContext = {
      paths,
      clock,
      randomBytes,
      // Rejects the options that version 3 added, with the message of version 1.1.
      runProgram: async (program, args, options) => {
        const option = args.find((each) => /^-crl_(?:last|next)update$/u.test(each));
        const done = { code: 0, stdout: '', stderr: '', fault: null, isMissing: false };
        if (args[0] === 'version') return { ...done, stdout: 'OpenSSL 1.1.1w  11 Sep 2023\n' };
        if (option === undefined) return runProgram(program, args, options);
        const stderr = `ca: Unrecognized flag ${option.slice(1)}\nca: Use -help for summary.\n`;
        return { ...done, code: 1, stderr };
      },
    };
    assert.equal(await ensureAuthority(context, request), true);
    const path = workshop.paths.revocations;
    const text = execFileSync('openssl', ['crl', '-in', path, '-noout', '-text'], {
      encoding: 'utf8',
    });
    const [, end = ''] = /Next Update: (.+)/u.exec(text) ?? [];
    const days = (new Date(end).getTime() - Date.now()) / 86_400_000;
    assert.ok(days > 399 && days < 401, end);
  });
});
