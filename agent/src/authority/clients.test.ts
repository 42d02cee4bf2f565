import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { type AuthorityFixture, copyAuthority } from '../../test/authority-fixture.ts';
import { lacksOpenssl } from '../../test/certificates.ts';
import { sendRequest, connect, openStream } from '../../test/stream-harness.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { createClient, revokeClient } from './clients.ts';
import { listCertificates } from './clients.ts';
import { packTar } from '../system/tar.ts';

const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

describe('client certificates', { skip: lacksOpenssl }, () => {
  let fixture: AuthorityFixture;
  beforeEach(async () => {
    fixture = await copyAuthority();
  });
  afterEach(() => fixture[Symbol.dispose]());

  test('creates a client certificate of this authority with the requested lifetime', async () => {
    const created = await fixture.create('anna', 30);
    const { cert, key, directory } = fixture.unpack(created);
    const certificate = new X509Certificate(cert);
    const { record } = created;
    assert.equal(certificate.subject, 'CN=anna');
    assert.equal(certificate.serialNumber, record.serial);
    assert.match(record.serial, /^[4-7][0-9A-F]{31}$/u);
    assert.equal(certificate.validFromDate.getTime(), fixture.nowMs - 3_600_000);
    assert.equal(certificate.validToDate.getTime(), fixture.nowMs + 30 * 86_400_000);
    assert.deepEqual(record.expiresAt, certificate.validToDate);
    assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
    const text = openssl('x509', '-in', `${directory}/client.pem`, '-noout', '-text');
    assert.match(text, /Signature Algorithm: ecdsa-with-SHA256\n[^]*NIST CURVE: P-256\n/u);
    const extensions = [...text.matchAll(/^ {12}X509v3 (.+?): ?(critical)?\n {16}(.+)$/gmu)];
    assert.deepEqual(
      extensions.map(([, name, critical = '', value = '']) => [name, critical, value.slice(0, 25)]),
      [
        ['Basic Constraints', 'critical', 'CA:FALSE'],
        ['Key Usage', 'critical', 'Digital Signature'],
        ['Extended Key Usage', '', 'TLS Web Client Authentica'],
        ['Subject Key Identifier', '', extensions[3]?.[3]?.slice(0, 25)],
        ['Authority Key Identifier', '', extensions[4]?.[3]?.slice(0, 25)],
      ],
    );
    assert.equal(fixture.verify(`${directory}/client.pem`), `${directory}/client.pem: OK`);
    fixture.passDays(31);
    assert.equal(fixture.verify(`${directory}/client.pem`), 'certificate has expired');
  });

  test('writes a bundle that only root can read and that contains every file of a client', async () => {
    const created = await fixture.create('anna');
    assert.equal(created.path, join(fixture.output, 'anna.tar.gz'));
    assert.equal(statSync(created.path).mode & 0o7777, 0o600);
    assert.equal(
      createHash('sha256').update(readFileSync(created.path)).digest('hex'),
      created.sha256,
    );
    const listed = execFileSync('tar', ['tvzf', created.path], { encoding: 'utf8' });
    const entries = listed.trim().split('\n');
    assert.deepEqual(
      entries.map((line) => [line.slice(0, 10), line.split(' ')[1], line.split(' ').at(-1)]),
      [
        ['-rw-r--r--', 'root/root', 'anna/README.txt'],
        ['-rw-r--r--', 'root/root', 'anna/client.pem'],
        ['-rw-------', 'root/root', 'anna/client.key'],
        ['-rw-r--r--', 'root/root', 'anna/client-with-chain.pem'],
        ['-rw-------', 'root/root', 'anna/anna.p12'],
        ['-rw-r--r--', 'root/root', 'anna/ca.pem'],
      ],
    );
    const { directory, cert } = fixture.unpack(created);
    const read = (file: string) => readFileSync(join(directory, file), 'utf8');
    const authority = readFileSync(fixture.paths.authorityCertificate, 'utf8');
    assert.equal(read('ca.pem'), authority);
    assert.equal(read('client-with-chain.pem'), `${cert}${authority}`);
    assert.match(
      read('README.txt'),
      new RegExp(`Valid until: ${day(created.record.expiresAt)}\\.`),
    );
    assert.match(read('README.txt'), /Connect to: {2}wss:\/\/db-1\.example\.com\/latchkey\n/u);
    assert.doesNotMatch(read('README.txt'), /undefined|null/u);
  });

  test('encrypts the PKCS#12 file with algorithms that both macOS and OpenSSL 3 accept', async () => {
    const created = await fixture.create('anna');
    const { directory, cert, key } = fixture.unpack(created);
    const file = join(directory, 'anna.p12');
    const opened = spawnSync(
      'openssl',
      ['pkcs12', '-in', file, '-passin', 'stdin', '-noenc', '-info'],
      { input: `${created.password}\n`, encoding: 'utf8' },
    );
    assert.equal(opened.status, 0, opened.stderr);
    assert.match(opened.stderr, /^MAC: sha1, Iteration 2048\n/u);
    const schemes = [...opened.stderr.matchAll(/pbeWith[\w-]+/gu)].map(([scheme]) => scheme);
    assert.deepEqual(schemes, [
      'pbeWithSHA1And3-KeyTripleDES-CBC',
      'pbeWithSHA1And3-KeyTripleDES-CBC',
    ]);
    assert.match(opened.stdout, /friendlyName: anna\n/u);
    assert.deepEqual(opened.stdout.match(/-----BEGIN \w/gu)?.length, 2);
    assert.ok(opened.stdout.includes(cert) && opened.stdout.includes(key));
    const wrong = ['pkcs12', '-in', file, '-passin', 'pass:', '-noenc'];
    assert.notEqual(spawnSync('openssl', wrong).status, 0);
  });

  test('generates a new password each time and stores it nowhere', async () => {
    const first = await fixture.create('anna');
    const second = await fixture.create('anna');
    assert.match(first.password, /^(?:[a-km-np-z2-9]{6}-){3}[a-km-np-z2-9]{6}$/u);
    assert.notEqual(first.password, second.password);
    fixture.unpack(second);
    const files = readdirSync(fixture.root, { recursive: true, encoding: 'utf8' })
      .map((file) => join(fixture.root, file))
      .filter((path) => statSync(path).isFile());
    assert.ok(files.length > 10);
    const secrets = [first.password, second.password];
    assert.deepEqual(
      files.filter((path) => secrets.some((each) => readFileSync(path).includes(each))),
      [],
    );
  });

  test('revokes the previous certificate of the same name', async () => {
    const first = await fixture.create('anna');
    const berta = fixture.unpack(await fixture.create('berta'));
    const old = fixture.unpack(first);
    const second = await fixture.create('anna');
    assert.equal(second.path, first.path);
    assert.deepEqual(
      second.replaced.map(({ serial }) => serial),
      [first.record.serial],
    );
    const replacing = fixture.unpack(second);
    assert.equal(fixture.verify(`${old.directory}/client.pem`), 'certificate revoked');
    assert.match(fixture.verify(`${replacing.directory}/client.pem`), /: OK$/u);
    assert.match(fixture.verify(`${berta.directory}/client.pem`), /: OK$/u);
    assert.deepEqual(fixture.listCertificates(), [
      'Latchkey proxy valid',
      'anna revoked',
      'anna valid',
      'berta valid',
    ]);
  });

  test('leaves exactly one valid certificate when several are created at once for one name', async () => {
    const outputs = ['1', '2', '3', '4'].map((each) => join(fixture.root, each));
    for (const output of outputs) mkdirSync(output);
    const created = await Promise.all(
      outputs.map(async (output) => createClient(fixture, { name: 'anna', days: 365, output })),
    );
    const results = created.map((each) =>
      fixture.verify(`${fixture.unpack(each).directory}/client.pem`),
    );
    assert.equal(results.filter((each) => each.endsWith(': OK')).length, 1);
    assert.equal(results.filter((each) => each === 'certificate revoked').length, 3);
  });

  test('issues no certificate beyond the expiry of the authority, and none after it', async () => {
    fixture.passDays(3_652 - 100);
    const { record } = await fixture.create('anna');
    assert.equal(record.expiresAt.getTime(), fixture.nowMs + 100 * 86_400_000);
    fixture.passDays(100);
    await assert.rejects(fixture.create('anna'), /The authority itself expired on \d{4}-/u);
  });

  test('signs and revokes nothing when the output directory does not exist', async () => {
    await fixture.create('anna');
    const output = join(fixture.root, 'nowhere', 'anna.tar.gz');
    await assert.rejects(createClient(fixture, { name: 'anna', days: 1, output }), {
      message: `There is no directory ${join(fixture.root, 'nowhere')} to write to.`,
    });
    assert.deepEqual(fixture.listCertificates(), ['Latchkey proxy valid', 'anna valid']);
  });

  test('lists statuses, and warns of certificates that expire within 30 days', async () => {
    await fixture.create('anna', 40);
    await fixture.create('berta', 10);
    await fixture.create('carl');
    await revokeClient(fixture, 'carl');
    assert.deepEqual(listCertificates(fixture).warnings, [
      'berta expires in 10 days: "latchkey-agent client-cert create berta" creates a new one.',
    ]);
    fixture.passDays(10);
    const proxy = 'Latchkey proxy valid';
    assert.deepEqual(fixture.listCertificates(), [
      proxy,
      'anna valid',
      'berta expired',
      'carl revoked',
    ]);
    assert.deepEqual(listCertificates(fixture).warnings, [
      'anna expires in 30 days: "latchkey-agent client-cert create anna" creates a new one.',
    ]);
    fixture.passDays(3_652 - 300);
    assert.match(
      listCertificates(fixture).warnings[0] ?? '',
      /^The authority itself expires in 290 days/u,
    );
  });

  test('rejects the revocation of an unknown and of a revoked certificate', async () => {
    await fixture.create('anna');
    const revoked = await revokeClient(fixture, 'anna');
    assert.equal(revoked.length, 1);
    await assert.rejects(revokeClient(fixture, 'anna'), {
      message: `The certificate of anna was revoked on ${day(fixture.clock.now())}.`,
    });
    await assert.rejects(revokeClient(fixture, 'proxy'), {
      message:
        'There is no certificate for proxy: "latchkey-agent client-cert list" shows the names.',
    });
    rmSync(fixture.paths.authority, { recursive: true });
    await assert.rejects(
      revokeClient(fixture, 'anna'),
      /^AuthorityError: This machine has no authority yet: /u,
    );
  });

  test('revocation closes the stream of a client and rejects the next one', async () => {
    const { authorityCertificate, revocations, proxyCertificate, proxyCertificateKey } =
      fixture.paths;
    const read = () =>
      readTlsMaterial({
        certificateFile: proxyCertificate,
        keyFile: proxyCertificateKey,
        clients: { authorityFile: authorityCertificate, revocationFile: revocations },
      });
    const anna = fixture.unpack(await fixture.create('anna'));
    const berta = fixture.unpack(await fixture.create('berta'));
    await using stream = await openStream({ tls: read() });
    const annas = await connect(stream.port, [], anna);
    const bertas = await connect(stream.port, [], berta);
    await revokeClient(fixture, 'anna');
    stream.server.setTls(read());
    const reason = 'The client certificate was revoked.';
    assert.deepEqual(await annas.closed, { code: 1008, reason });
    await assert.rejects(connect(stream.port, [], anna), { message: `403 ${reason}` });
    stream.hub.tick();
    assert.equal((await bertas.receive(2)).length, 2);
    assert.equal((await sendRequest(stream.port, '/health')).status, 200);
  });

  test('packs files of any length with their timestamp', () => {
    const entries = [0, 1, 511, 512, 513].map((length) => {
      return { path: `a/${length}`, mode: 0o640, content: Buffer.alloc(length, 'x') };
    });
    const archive = packTar(entries, new Date('2026-11-21T12:00:00Z'));
    assert.equal(archive.length % 512, 0);
    const listed = spawnSync('tar', ['--utc', '-tvf', '-'], { input: archive, encoding: 'utf8' });
    assert.deepEqual(
      listed.stdout
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/ +/gu, ' ')),
      [0, 1, 511, 512, 513].map(
        (length) => `-rw-r----- root/root ${length} 2026-11-21 12:00 a/${length}`,
      ),
    );
    assert.equal(listed.stderr, '');
  });
});

function day(time: Date): string {
  return time.toISOString().slice(0, 10);
}
