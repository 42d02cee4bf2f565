/** TLS between the service and PostgreSQL: each sslmode means what it means in libpq. */
import assert from 'node:assert/strict';
import { chmod, cp, mkdir, rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';

import { lacksOpenssl } from '../../../agent/test/certificates.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { openExternalDatabase } from '#server/db/external-database.ts';
import { createPool } from '#server/db/pool.ts';
import { sendQuery } from '#server/db/send-query.ts';

import {
  createCertificates,
  MODES,
  SCENARIOS,
  toParameters,
  type Certificates,
} from '../tls-outcomes.ts';
import { startTlsPostgres, type TlsPostgres, type TlsSettings } from '../tls-postgres.ts';

const IS_ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

const OPTIONS = { maxConnections: 1, log: { warn: () => {} } };

const ANY = ['host all all all trust'];
const PASSWORD = ['host all all all scram-sha-256'];

let certificates: Certificates;
let server: TlsPostgres;
const warnings: Error[] = [];

before(async () => {
  if (lacksOpenssl !== false) return;
  certificates = createCertificates();
  // Without the files in ~/.postgresql.
  process.env['HOME'] = certificates.directory;
  process.on('warning', (warning) => warnings.push(warning));
  server = await startTlsPostgres();
  await server.query("create role app login password 'of-the-app'");
});

after(async () => {
  await server?.[Symbol.asyncDispose]();
  certificates?.[Symbol.dispose]();
});

interface UrlParts {
  readonly hosts?: string;
  readonly user?: string;
}

function urlOf(
  parameters: Readonly<Record<string, string>>,
  { hosts = `localhost:${server.port}`, user = 'latchkey' }: UrlParts = {},
): string {
  return `postgres://${user}@${hosts}/postgres?${new URLSearchParams(parameters).toString()}`;
}

/** Returns `plain` or `tls`. @throws Error when the connection fails */
async function connect(url: string): Promise<string> {
  const pool = createPool({ url }, OPTIONS);
  try {
    const { rows } = await sendQuery(pool, { text: IS_ENCRYPTED });
    return rows[0]?.['ssl'] === true ? 'tls' : 'plain';
  } finally {
    await pool.end();
  }
}

function outcomeOf(url: string): Promise<string> {
  return connect(url).catch(() => '-');
}

/** The sentence with which the service does not start. */
async function readRefusal(url: string): Promise<string> {
  try {
    await (await openExternalDatabase(url, OPTIONS)).end();
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error));
    return error.problems.join('\n');
  }
  return assert.fail(`${url} was accepted`);
}

function withAuthority(more: Partial<TlsSettings> = {}): TlsSettings {
  return { certificate: certificates.server, rules: ANY, ...more };
}

describe('TLS to PostgreSQL', { skip: lacksOpenssl }, () => {
  for (const { name, settings, clients } of SCENARIOS) {
    test(`connects to ${name} with each sslmode as libpq does`, async () => {
      await server.configure(settings(certificates));
      for (const [files, expected] of clients) {
        const parameters = toParameters(files, certificates);
        const outcomes: string[] = [];
        for (const sslmode of MODES)
          outcomes.push(await outcomeOf(urlOf({ sslmode, ...parameters })));
        assert.equal(outcomes.join(' '), expected, JSON.stringify(files));
      }
    });
  }

  test('uses TLS without sslmode, and reads PGSSLMODE as its default', async () => {
    await server.configure(withAuthority());
    assert.equal(await connect(urlOf({})), 'tls');
    process.env['PGSSLMODE'] = 'disable';
    try {
      assert.equal(await connect(urlOf({})), 'plain');
      assert.equal(await connect(urlOf({ sslmode: 'require' })), 'tls');
    } finally {
      delete process.env['PGSSLMODE'];
    }
  });

  test('never encrypts a socket of this machine', async () => {
    await server.configure(withAuthority());
    const hosts = new URL(server.socketUrl).searchParams.get('host') ?? '';
    const url = urlOf(
      { sslmode: 'verify-full', host: hosts, port: String(server.port) },
      { hosts: '' },
    );
    assert.equal(await connect(url), 'plain');
  });

  test('verifies an address, negotiates directly, and checks a revocation list', async () => {
    await server.configure(withAuthority());
    const sslrootcert = certificates.root.certificateFile;
    const byAddress = { hosts: `127.0.0.1:${server.port}` };
    const full = { sslmode: 'verify-full', sslrootcert };
    assert.equal(await connect(urlOf(full, byAddress)), 'tls');
    assert.equal(await connect(urlOf({ ...full, sslnegotiation: 'direct' })), 'tls');
    assert.equal(await connect(urlOf({ ...full, ssl_min_protocol_version: 'TLSv1.3' })), 'tls');
    const { withServer, withoutServer } = certificates.revocations;
    assert.equal(await connect(urlOf({ ...full, sslcrl: withoutServer })), 'tls');
    assert.match(
      await readRefusal(urlOf({ ...full, sslcrl: withServer })),
      /\(the server has a revoked certificate\): issue a new one for the server\.$/u,
    );
  });

  test('uses the files in ~/.postgresql by default', async () => {
    const { root } = certificates;
    const directory = `${certificates.directory}/.postgresql`;
    await server.configure(withAuthority());
    await mkdir(directory);
    try {
      await cp(root.certificateFile, `${directory}/root.crt`);
      assert.equal(await connect(urlOf({ sslmode: 'verify-full' })), 'tls');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test('finds the host that accepts writes over TLS, each with its own name', async () => {
    await server.configure(withAuthority());
    const hosts = `127.0.0.1:1,localhost:${server.port}`;
    const sslrootcert = certificates.root.certificateFile;
    assert.equal(await connect(urlOf({ sslmode: 'verify-full', sslrootcert }, { hosts })), 'tls');
    const wrong = { sslmode: 'verify-full', sslrootcert: certificates.otherRoot.certificateFile };
    assert.match(
      await readRefusal(
        urlOf(wrong, { hosts: `localhost:${server.port},127.0.0.1:${server.port}` }),
      ),
      /\(the server has a certificate of an authority that is not trusted here\): set sslrootcert/u,
    );
  });

  test('binds the password to the certificate when channel_binding requires it', async () => {
    await server.configure(withAuthority({ rules: PASSWORD }));
    const user = 'app:of-the-app';
    const binding = { channel_binding: 'require' };
    assert.equal(await connect(urlOf({ sslmode: 'require', ...binding }, { user })), 'tls');
    assert.equal(await connect(urlOf({ sslmode: 'disable' }, { user })), 'plain');
    const rejects = 'the server does not authenticate with channel binding';
    const plain = await readRefusal(urlOf({ sslmode: 'disable', ...binding }, { user }));
    assert.ok(plain.includes(rejects), plain);
    await server.configure(withAuthority());
    const trusted = await readRefusal(urlOf({ sslmode: 'require', ...binding }, { user }));
    assert.ok(trusted.includes(rejects), trusted);
  });

  test('explains each refusal with its own fix', async () => {
    const { root, otherRoot } = certificates;
    const verify = { sslmode: 'verify-full', sslrootcert: root.certificateFile };
    const trustsOther = { ...verify, sslrootcert: otherRoot.certificateFile };
    const sentence = 'The database of DATABASE_URL cannot be used';
    const page = '(docs/operations/postgresql.md)';
    for (const [settings, parameters, expected] of [
      [
        { certificate: certificates.server, rules: ANY },
        trustsOther,
        `(the server has a certificate of an authority that is not trusted here): set sslrootcert to a file with the certificate of its authority ${page}.`,
      ],
      [
        { certificate: certificates.selfSigned, rules: ANY },
        verify,
        `(the server has a self-signed certificate): set sslrootcert to a copy of that certificate ${page}.`,
      ],
      [
        { certificate: certificates.otherName, rules: ANY },
        verify,
        '(the server has a certificate for other host names (db.example.com)): use one of those names as host in the URL, or issue a certificate for the host.',
      ],
      [
        { certificate: certificates.expired, rules: ANY },
        verify,
        '(the server has a certificate that has expired): renew it on the server, and check the clock of this machine.',
      ],
      [
        { certificate: null, rules: ANY },
        verify,
        `(the server does not support TLS): set ssl = on in the server's configuration, or, in a network that you trust, sslmode=prefer in the URL ${page}.`,
      ],
      [
        {
          certificate: certificates.server,
          rules: ['hostssl all all all trust clientcert=verify-ca'],
          clientAuthority: root,
        },
        verify,
        `(connection requires a valid client certificate): set sslcert and sslkey to a certificate that the server trusts ${page}.`,
      ],
    ] as const) {
      await server.configure(settings);
      assert.equal(await readRefusal(urlOf(parameters)), `${sentence} ${expected}`);
    }
    await server.configure({
      certificate: certificates.server,
      rules: ['hostssl all all all trust'],
    });
    const refusal = await readRefusal(urlOf({ sslmode: 'disable' }));
    assert.match(refusal, /no encryption\): set sslmode=require or more in the URL/u);
  });

  test('reports a certificate that expires while the service runs as a database that is unavailable', async () => {
    await server.configure(withAuthority({ certificate: certificates.expired }));
    const sslrootcert = certificates.root.certificateFile;
    await assert.rejects(
      connect(urlOf({ sslmode: 'verify-full', sslrootcert })),
      isDatabaseUnavailable,
    );
  });

  test('refuses a missing file, and a private key that others may read', async () => {
    const { client, root } = certificates;
    const missing = { sslmode: 'require', sslrootcert: '/nowhere/root.crt' };
    assert.equal(
      await readRefusal(urlOf(missing)),
      'DATABASE_URL needs /nowhere/root.crt as sslrootcert, which does not exist: correct the path, or create the file.',
    );
    assert.match(await readRefusal(urlOf({ sslmode: 'verify-ca' })), /names no certificate of an/u);
    const files = { sslmode: 'require', sslcert: client.certificateFile, sslkey: client.keyFile };
    await chmod(client.keyFile, 0o644);
    assert.match(await readRefusal(urlOf(files)), /^Others may read .*: run chmod 0600 /u);
    await chmod(client.keyFile, 0o600);
    const mixed = { ...files, sslkey: root.keyFile };
    assert.match(await readRefusal(urlOf(mixed)), /^The certificates of DATABASE_URL cannot be/u);
  });

  test('prints no warning of the driver', () => {
    assert.deepEqual(warnings, []);
  });
});
