import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { findHostNameProblem } from './option-rules.ts';
import { formatInstalled, parseInstalled } from './installed.ts';
import { type Environment, type Flags, type InstallOptions, readOptions } from './options.ts';

const DOMAIN = 'monitor.example.com';

test('needs only a domain, and has defaults for the rest', () => {
  assert.deepEqual(readOptions({}, { LATCHKEY_DOMAIN: DOMAIN }, null), {
    options: {
      domain: DOMAIN,
      email: null,
      mode: 'auto',
      forcesStandalone: false,
      proxyPath: '/latchkey',
      proxyByHand: false,
      mutualTls: false,
      acmeServer: null,
      certificateFiles: null,
      scrapeIntervalSeconds: null,
      allowedOrigins: null,
      opensFirewall: false,
      skipsDnsCheck: false,
      allowsDowngrade: false,
    },
    notes: [],
  });
});

test('reads each option from its flag or its variable, and prefers the flag', () => {
  const expected: InstallOptions = {
    domain: 'xn--bcher-kva.example',
    email: 'ops+tls@example.com',
    mode: 'standalone',
    forcesStandalone: true,
    proxyPath: '/a/b-c.d',
    proxyByHand: false,
    mutualTls: true,
    acmeServer: 'https://localhost:14000/dir',
    certificateFiles: { certificate: '/etc/ssl/a.pem', key: '/etc/ssl/a.key' },
    scrapeIntervalSeconds: 5,
    allowedOrigins: ['https://console.example.com', 'http://localhost:3000'],
    opensFirewall: true,
    skipsDnsCheck: true,
    allowsDowngrade: true,
  };
  const environment = {
    LATCHKEY_DOMAIN: 'XN--bcher-kva.Example.',
    LATCHKEY_EMAIL: 'ops+tls@example.com',
    LATCHKEY_INSTALL_MODE: 'standalone',
    LATCHKEY_FORCE_STANDALONE: 'yes',
    LATCHKEY_PROXY_PATH: '/a/b-c.d',
    LATCHKEY_MTLS: 'yes',
    LATCHKEY_ACME_SERVER: 'https://localhost:14000/dir',
    LATCHKEY_CERT_FILE: '/etc/ssl/a.pem',
    LATCHKEY_KEY_FILE: '/etc/ssl/a.key',
    LATCHKEY_SCRAPE_INTERVAL: '5',
    LATCHKEY_ALLOWED_ORIGINS: 'https://Console.example.com:443, http://localhost:3000',
    LATCHKEY_OPEN_FIREWALL: 'yes',
    LATCHKEY_SKIP_DNS_CHECK: 'yes',
    LATCHKEY_AGENT_ALLOW_DOWNGRADE: 'yes',
  };
  const flags = {
    domain: 'xn--bcher-kva.example',
    email: 'ops+tls@example.com',
    mode: 'standalone',
    forceStandalone: true,
    proxyPath: '/a/b-c.d',
    mtls: true,
    acmeServer: 'https://localhost:14000/dir',
    certFile: '/etc/ssl/a.pem',
    keyFile: '/etc/ssl/a.key',
    scrapeInterval: '5',
    allowedOrigins: 'https://console.example.com,http://localhost:3000',
    openFirewall: true,
    skipDnsCheck: true,
    allowDowngrade: true,
  };
  const others = Object.fromEntries(Object.keys(environment).map((name) => [name, 'wrong']));
  assert.deepEqual(readOptions({}, environment, null), { options: expected, notes: [] });
  assert.deepEqual(readOptions(flags, others, null), { options: expected, notes: [] });
});

test('uses the options of the existing installation as defaults', () => {
  const installed = {
    version: '1.0.0',
    mode: 'proxy',
    domain: DOMAIN,
    proxyPath: '/vital',
    mutualTls: true,
    proxyByHand: true,
    certificateFiles: { certificate: '/etc/ssl/a.pem', key: '/etc/ssl/a.key' },
    skipsDnsCheck: false,
  } as const;
  const again = accept({}, {}, installed);
  assert.deepEqual([again.domain, again.proxyPath, again.mutualTls], [DOMAIN, '/vital', true]);
  assert.deepEqual([again.proxyByHand, again.certificateFiles], [true, installed.certificateFiles]);
  assert.equal(accept({}, { LATCHKEY_MTLS: 'no' }, installed).mutualTls, false);
  assert.equal(accept({ mode: 'proxy' }, {}, installed).proxyByHand, false);
  assert.equal(accept({ forceStandalone: true }, {}, installed).proxyByHand, false);
  const others = { certificate: '/b.pem', key: '/b.key' };
  const flags = { certFile: others.certificate, keyFile: others.key };
  assert.deepEqual(accept(flags, {}, installed).certificateFiles, others);
});

test('explains each wrong value in one sentence', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'LATCHKEY_DOMAIN',
      'https://monitor.example.com/x',
      'must be a host name alone, without https://: write monitor.example.com.',
    ],
    [
      'LATCHKEY_DOMAIN',
      'monitor.example.com:4096',
      'must be a host name alone, without a port: write monitor.example.com.',
    ],
    [
      'LATCHKEY_DOMAIN',
      'monitor.example.com/latchkey',
      'must be a host name alone, without a path: write monitor.example.com.',
    ],
    [
      'LATCHKEY_DOMAIN',
      '*.example.com',
      'must be one name and no wildcard, such as monitor.example.com.',
    ],
    [
      'LATCHKEY_DOMAIN',
      '192.0.2.7',
      'must be a name and no address, because certificates are issued for names.',
    ],
    [
      'LATCHKEY_DOMAIN',
      '[2001:db8::1]',
      'must be a name and no address, because certificates are issued for names.',
    ],
    [
      'LATCHKEY_DOMAIN',
      'Bücher.example',
      'must be an ASCII name (punycode): write xn--bcher-kva.example.',
    ],
    [
      'LATCHKEY_DOMAIN',
      'localhost',
      'must be a full name, such as monitor.example.com, and no single word.',
    ],
    [
      'LATCHKEY_DOMAIN',
      '-a.example.com',
      'must have parts of letters, digits and hyphens, 63 at most in each and 253 in all, such as monitor.example.com.',
    ],
    ['LATCHKEY_EMAIL', 'ops', 'must be one e-mail address, such as operations@example.com.'],
    [
      'LATCHKEY_EMAIL',
      '-m@example.com',
      'must be one e-mail address, such as operations@example.com.',
    ],
    [
      'LATCHKEY_EMAIL',
      'a@example.com,b@example.com',
      'must be one e-mail address, such as operations@example.com.',
    ],
    ['LATCHKEY_INSTALL_MODE', 'Proxy', 'must be auto, standalone or proxy.'],
    ['LATCHKEY_FORCE_STANDALONE', 'true', 'must be yes, or left out.'],
    ['LATCHKEY_MTLS', '1', 'must be yes, or left out.'],
    ['LATCHKEY_PROXY_PATH', 'latchkey', 'must begin with a slash, such as /latchkey.'],
    [
      'LATCHKEY_PROXY_PATH',
      '/',
      'must be a path of its own, such as /latchkey: / is the whole site.',
    ],
    ['LATCHKEY_PROXY_PATH', '/latchkey/', 'must end without a slash, such as /latchkey.'],
    ['LATCHKEY_PROXY_PATH', '/a/../b', 'must not have empty parts, . or .. in it.'],
    ['LATCHKEY_PROXY_PATH', '//a', 'must not have empty parts, . or .. in it.'],
    ['LATCHKEY_PROXY_PATH', '/a b', 'must have letters, digits and - . _ ~ / only, 200 at most.'],
    ['LATCHKEY_PROXY_PATH', '/a{', 'must have letters, digits and - . _ ~ / only, 200 at most.'],
    [
      'LATCHKEY_PROXY_PATH',
      '/.well-known/x',
      'must not be below /.well-known, by which authorities validate domains.',
    ],
    ['LATCHKEY_SCRAPE_INTERVAL', '0', 'must be a whole number of seconds from 1 to 60.'],
    ['LATCHKEY_SCRAPE_INTERVAL', '61', 'must be a whole number of seconds from 1 to 60.'],
    ['LATCHKEY_SCRAPE_INTERVAL', '1.5', 'must be a whole number of seconds from 1 to 60.'],
    [
      'LATCHKEY_ACME_SERVER',
      'http://acme.example.com/',
      'must be the https address of an ACME directory, such as https://acme.example.com/directory.',
    ],
    [
      'LATCHKEY_ACME_SERVER',
      '--pre-hook=x',
      'must be the https address of an ACME directory, such as https://acme.example.com/directory.',
    ],
    [
      'LATCHKEY_CERT_FILE',
      'a.pem',
      'must be the path of a file, from the root on, without spaces, quotes and the like.',
    ],
    [
      'LATCHKEY_KEY_FILE',
      '/a";b',
      'must be the path of a file, from the root on, without spaces, quotes and the like.',
    ],
  ];
  for (const [name, value, expected] of cases) {
    const environment = { ...RIGHT, [name]: value };
    assert.deepEqual(refuse({}, environment), [`${name} ${expected}`], value);
  }
});

test('reports all problems at once, by the names of their sources', () => {
  assert.deepEqual(refuse({ mode: 'both', mtls: 'maybe' }, { LATCHKEY_CERT_FILE: '/a.pem' }), [
    'The domain is missing: give the name by which viewers reach this machine with --domain or LATCHKEY_DOMAIN, such as monitor.example.com.',
    '--mode must be auto, standalone or proxy.',
    '--mtls must be yes, or left out.',
    'LATCHKEY_CERT_FILE needs the other file, too: give it with --key-file or LATCHKEY_KEY_FILE.',
  ]);
  assert.deepEqual(refuse({ domain: DOMAIN, keyFile: '/a.key' }, {}), [
    '--key-file needs the other file, too: give it with --cert-file or LATCHKEY_CERT_FILE.',
  ]);
  const both = { LATCHKEY_DOMAIN: DOMAIN, LATCHKEY_FORCE_STANDALONE: 'yes' };
  assert.deepEqual(refuse({ mode: 'proxy' }, both), [
    'LATCHKEY_FORCE_STANDALONE contradicts --mode proxy: leave one of them out.',
  ]);
  assert.deepEqual(refuse({ mode: 'standalone', proxyByHand: true }, { LATCHKEY_DOMAIN: DOMAIN }), [
    '--mode standalone contradicts --proxy-by-hand: leave one of them out.',
  ]);
  assert.deepEqual(refuse({ proxyByHand: true }, both), [
    'LATCHKEY_FORCE_STANDALONE contradicts --proxy-by-hand: leave one of them out.',
  ]);
});

test('notes a misspelled variable, and ignores others of the prefix', () => {
  const environment = {
    LATCHKEY_DOMAIN: DOMAIN,
    LATCHKEY_EMIAL: 'ops@example.com',
    LATCHKEY_INSTAL_MODE: 'proxy',
    LATCHKEY_AGENT_URL: 'https://example.com/agent.tar.gz',
    LATCHKEY_DATABASE_URL: 'postgresql://localhost',
  };
  const read = readOptions({}, environment, null);
  assert.deepEqual('notes' in read && read.notes, [
    'LATCHKEY_EMIAL is unknown and was ignored. Did you mean LATCHKEY_EMAIL?',
    'LATCHKEY_INSTAL_MODE is unknown and was ignored. Did you mean LATCHKEY_INSTALL_MODE?',
  ]);
});

test('notes a misspelled variable beside the problem that it causes', () => {
  const read = readOptions({}, { LATCHKEY_DOMIAN: DOMAIN }, null);
  assert.ok('problems' in read);
  assert.equal(read.problems.length, 1);
  assert.deepEqual(read.notes, [
    'LATCHKEY_DOMIAN is unknown and was ignored. Did you mean LATCHKEY_DOMAIN?',
  ]);
});

test('never throws, and rejects text that could break out of a configuration', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (domain, path) => {
      const read = readOptions(
        { domain, proxyPath: path, certFile: path, keyFile: path, email: path, acmeServer: path },
        {},
        null,
      );
      const texts = 'options' in read ? [read.options.domain, read.options.proxyPath] : [];
      for (const text of texts) assert.match(text, /^[\w/.~-]+$/u);
    }),
  );
});

test('accepts exactly the names that the DNS allows', () => {
  const long = `${'a'.repeat(63)}.`.repeat(3);
  assert.equal(findHostNameProblem(`${long}${'a'.repeat(61)}`), null);
  assert.notEqual(findHostNameProblem(`${long}${'a'.repeat(62)}`), null);
  assert.notEqual(findHostNameProblem(`${'a'.repeat(64)}.example`), null);
  for (const name of ['a.b', '1.a', 'a--b.c', 'a.xn--p1ai'])
    assert.equal(findHostNameProblem(name), null);
  for (const name of ['a..b', '.a.b', 'a.b-', 'a_b.c', 'a.1', 'a b.c', '', '*', 'a.b\n']) {
    assert.notEqual(findHostNameProblem(name), null, name);
  }
});

test('reads the register of an installation as written, and rejects anything else', () => {
  const facts = {
    version: '1.0.0',
    mode: 'standalone',
    domain: DOMAIN,
    proxyPath: '/a',
    mutualTls: false,
    proxyByHand: false,
    certificateFiles: { certificate: '/a.pem', key: '/a.key' },
    skipsDnsCheck: false,
  } as const;
  const text = formatInstalled(facts);
  assert.deepEqual(parseInstalled(text), facts);
  const without = { ...facts, certificateFiles: null };
  assert.deepEqual(parseInstalled(formatInstalled(without)), without);
  for (const damaged of [
    '',
    text.slice(0, 30),
    '[]',
    'null',
    text.replace('standalone', 'both'),
    text.replace('"/a"', '"/a b"'),
    text.replace(DOMAIN, 'x;y'),
    text.replace('false', '"no"'),
    text.replace('"version"', '"edition"'),
    text.replace('/a.key', 'a.key'),
    text.replace('"key"', '"lock"'),
  ]) {
    assert.equal(parseInstalled(damaged), null, damaged);
  }
});

const RIGHT = {
  LATCHKEY_DOMAIN: DOMAIN,
  LATCHKEY_CERT_FILE: '/a.pem',
  LATCHKEY_KEY_FILE: '/a.key',
};

function accept(
  ...[flags, environment, installed]: Parameters<typeof readOptions>
): InstallOptions {
  const read = readOptions(flags, environment, installed);
  assert.ok('options' in read, JSON.stringify(read));
  return read.options;
}

function refuse(flags: Flags, environment: Environment): readonly string[] {
  const read = readOptions(flags, environment, null);
  assert.ok('problems' in read, JSON.stringify(read));
  return read.problems;
}
