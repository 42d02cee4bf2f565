import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { AuthorityFixture, request } from '../../test/authority-fixture.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import type { AuthorityContext } from './context.ts';
import { ensureAuthority, isAuthorityReady } from './ensure-authority.ts';
import { refreshList } from './renewal.ts';

const show = (path: string): string =>
  execFileSync('openssl', ['x509', '-in', path, '-noout', '-text'], { encoding: 'utf8' });

describe('ensureAuthority', { skip: lacksOpenssl }, () => {
  let fixture: AuthorityFixture;
  beforeEach(() => {
    fixture = new AuthorityFixture();
  });
  afterEach(() => fixture[Symbol.dispose]());

  test('creates an authority for certificates and revocation lists, valid for ten years', async () => {
    assert.equal(await fixture.ensure(), true);
    const path = fixture.paths.authorityCertificate;
    const { ca, subject, validFromDate, validToDate } = new X509Certificate(readFileSync(path));
    assert.equal(ca, true);
    assert.match(subject, /^O=db-1\.example\.com\nCN=Latchkey agent clients [0-9a-f]{8}$/u);
    assert.equal(validFromDate.getTime(), fixture.nowMs - 3_600_000);
    assert.equal(validToDate.getTime(), fixture.nowMs + 3_652 * 86_400_000);
    const text = show(path);
    assert.match(text, /Basic Constraints: critical\n\s+CA:TRUE, pathlen:0\n/u);
    assert.match(text, /Key Usage: critical\n\s+Certificate Sign, CRL Sign\n/u);
    assert.match(text, /NIST CURVE: P-256\n[^]*Signature Algorithm: ecdsa-with-SHA256\n/u);
  });

  test('makes keys and register readable by root only, and published files by everyone', async () => {
    process.umask(0o077);
    await fixture.ensure();
    process.umask(0o022);
    assert.deepEqual(fixture.listModes(), {
      'etc/latchkey-agent/pki/ca.pem': '644',
      'etc/latchkey-agent/pki/crl.pem': '644',
      'etc/latchkey-agent/pki/proxy.key': '600',
      'etc/latchkey-agent/pki/proxy.pem': '644',
      'var/lib/latchkey-agent-authority/ca.key': '600',
      'var/lib/latchkey-agent-authority/ca.pem': '600',
      'var/lib/latchkey-agent-authority/lock': '600',
      'var/lib/latchkey-agent-authority/register.json': '600',
    });
    assert.equal(statSync(fixture.paths.authority).mode & 0o777, 0o700);
    assert.equal(statSync(join(fixture.root, 'etc/latchkey-agent/pki')).mode & 0o777, 0o755);
  });

  test('touches no file of a consistent authority', async () => {
    await fixture.ensure();
    const before = fixture.listFiles();
    fixture.passDays(1);
    assert.equal(await fixture.ensure(), false);
    assert.deepEqual(fixture.listFiles(), before);
  });

  test('isAuthorityReady reports missing work without writing', async () => {
    const isReady = async (changes = {}) => isAuthorityReady(fixture, { ...request, ...changes });
    const { paths } = fixture;
    assert.equal(await isReady(), false);
    await fixture.ensure({ withProxyCertificate: false });
    assert.equal(await isReady(), false);
    assert.equal(await isReady({ withProxyCertificate: false }), true);
    await fixture.ensure();
    const before = fixture.listFiles();
    assert.equal(await isReady(), true);
    const { domain } = request;
    const unnamed = { domain, withProxyCertificate: true };
    assert.equal(await isAuthorityReady(fixture, unnamed), true);
    assert.equal(await isReady({ address: 'wss://db-1.example.com:4096' }), false);
    assert.equal(await isReady({ domain: 'db-2.example.com' }), false);
    assert.deepEqual(fixture.listFiles(), before);
    for (const path of [paths.authorityCertificate, paths.revocations, paths.proxyCertificate]) {
      rmSync(path);
      assert.equal(await isReady(), false, path);
      await fixture.ensure();
      assert.equal(await isReady(), true, path);
    }
    chmodSync(paths.authority, 0o755);
    assert.equal(await isReady(), false);
    await fixture.ensure();
    assert.equal(await isReady(), true);
    fixture.passDays(306);
    assert.equal(await isReady(), false);
    assert.equal(await isReady({ withProxyCertificate: false }), true);
  });

  test('replaces missing and foreign files, and keeps its key', async () => {
    using other = new AuthorityFixture();
    await other.ensure();
    await fixture.ensure();
    const created = await fixture.create('anna');
    const { directory } = fixture.unpack(created);
    copyFileSync(other.paths.authorityCertificate, fixture.paths.authorityCertificate);
    copyFileSync(other.paths.revocations, fixture.paths.revocations);
    rmSync(fixture.paths.proxyCertificateKey);
    assert.equal(await fixture.ensure(), true);
    assert.equal(fixture.verify(join(directory, 'client.pem')), `${directory}/client.pem: OK`);
    const { proxyCertificate } = fixture.paths;
    assert.equal(fixture.verify(proxyCertificate), `${proxyCertificate}: OK`);
    assert.equal(await fixture.ensure(), false);
    rmSync(fixture.paths.revocations);
    assert.equal(await fixture.ensure(), true);
    assert.equal(await fixture.ensure(), false);
  });

  test('ignores the files of an interrupted creation', async () => {
    await fixture.ensure();
    rmSync(join(fixture.paths.authority, 'register.json'));
    assert.equal(await fixture.ensure(), true);
    const { proxyCertificate } = fixture.paths;
    assert.equal(fixture.verify(proxyCertificate), `${proxyCertificate}: OK`);
  });

  test('rejects a missing key and a damaged register instead of creating a new authority', async () => {
    await fixture.ensure();
    const { authority } = fixture.paths;
    writeFileSync(join(authority, 'register.json'), '{"format":1}');
    await assert.rejects(fixture.ensure(), {
      name: 'AuthorityError',
      message: `${authority}/register.json is damaged: restore it from a backup of ${authority}.`,
    });
    rmSync(join(authority, 'register.json'));
    await fixture.ensure();
    rmSync(join(authority, 'ca.key'));
    await assert.rejects(fixture.ensure(), {
      message: `${authority}/ca.key is missing: restore it from a backup, or remove ${authority} and run "latchkey-agent install" to create a new authority.`,
    });
  });

  test('reports missing openssl, and creates the authority once openssl is installed', async () => {
    const result = { code: null, stdout: '', stderr: '', fault: 'No.', isMissing: true };
    const { paths, clock, randomBytes } = fixture;
    const lacking = { paths, clock, randomBytes, runProgram: async () => result };
    const unnamed = { domain: 'a.example', withProxyCertificate: false };
    await assert.rejects(ensureAuthority(lacking, unnamed), {
      message: 'openssl is not installed: run "apt install openssl".',
    });
    assert.equal(await fixture.ensure(), true);
  });

  test('rejects an invalid domain', async () => {
    await assert.rejects(fixture.ensure({ domain: 'a/CN=b' }), {
      message: '"a/CN=b" is not a valid domain for an authority.',
    });
  });

  test('renews the certificate of the proxy in its last 60 days, with the same key', async () => {
    await fixture.ensure();
    const { proxyCertificate, proxyCertificateKey } = fixture.paths;
    const read = () => new X509Certificate(readFileSync(proxyCertificate));
    const [first, key] = [read(), readFileSync(proxyCertificateKey, 'utf8')];
    fixture.passDays(304);
    assert.deepEqual(await refreshList(fixture), { number: 2, isProxyRenewed: false });
    fixture.passDays(2);
    assert.deepEqual(await refreshList(fixture), { number: 3, isProxyRenewed: true });
    const second = read();
    assert.equal(readFileSync(proxyCertificateKey, 'utf8'), key);
    assert.deepEqual(
      second.publicKey.export({ format: 'jwk' }),
      first.publicKey.export({ format: 'jwk' }),
    );
    assert.notEqual(second.serialNumber, first.serialNumber);
    assert.equal(second.validToDate.getTime(), fixture.nowMs + 365 * 86_400_000);
    // nginx presents the previous one until it is reloaded.
    const kept = join(fixture.root, 'first.pem');
    writeFileSync(kept, first.toString());
    assert.equal(fixture.verify(kept), `${kept}: OK`);
    assert.deepEqual(await refreshList(fixture), { number: 4, isProxyRenewed: false });
  });

  test('renews a revocation list before its expiry', async () => {
    await fixture.ensure();
    fixture.passDays(339);
    assert.equal(await fixture.ensure({ withProxyCertificate: false }), false);
    fixture.passDays(2);
    assert.equal(await fixture.ensure({ withProxyCertificate: false }), true);
  });

  test('creates a revocation list of the same lifetime with OpenSSL 1.1', async () => {
    const { runProgram } = fixture;
    const { paths, clock, randomBytes } = fixture;
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
    const path = fixture.paths.revocations;
    const text = execFileSync('openssl', ['crl', '-in', path, '-noout', '-text'], {
      encoding: 'utf8',
    });
    const [, end = ''] = /Next Update: (.+)/u.exec(text) ?? [];
    const days = (new Date(end).getTime() - Date.now()) / 86_400_000;
    assert.ok(days > 399 && days < 401, end);
  });
});
