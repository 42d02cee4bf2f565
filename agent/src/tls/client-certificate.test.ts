/** Holds a certificate that a proxy forwards to the rules of one that a client shows: each kind of certificate, both ways. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { type Certificate, lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { connect, openStream, type Stream } from '../../test/stream-harness.ts';
import { REVOKED_REASON } from './client-certificate.ts';
import { readTlsMaterial } from './tls-files.ts';

const CLIENT = 'extendedKeyUsage=clientAuth\n';
const UNKNOWN = 'The client certificate is not from an authority of this agent.';
const NOT_FOR_CLIENTS = 'The certificate is not for clients.';
const TOO_DEEP = 'The client certificate has too many intermediate certificates.';
const WEAK = 'The client certificate has a weak key or signature.';

/** A kind of certificate, and the sentence by which it is refused; null when it is accepted. */
type Kind = readonly [what: string, certificate: Certificate, refusal: string | null];

describe('a client certificate', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  const server = fixture.createRoot('web').issueServer();
  const authority = fixture.createRoot('clients');
  const proxy = authority.issueProxy();
  const outdated = fixture.createRoot('outdated');
  const outdatedList = outdated.writeRevocations([], 1);
  const unlisted = fixture.createRoot('unlisted');
  const first = authority.issueAuthority('first');
  const second = first.issueAuthority('second');
  const third = second.issueAuthority('third');
  const revoked = authority.issueClient('revoked');

  /** Signs a certificate with these extensions. */
  const sign = (name: string, extensions: string, issuer = authority.own): Certificate =>
    fixture.read(fixture.sign(issuer, name, { extensions }));

  /** Signs the request of another certificate again, with other options of `openssl x509`. */
  function signAgain(name: string, key: string, ...options: readonly string[]): Certificate {
    const { certificateFile, keyFile } = authority.own;
    const extensions = join(fixture.directory, `${name}.ext`);
    writeFileSync(extensions, CLIENT);
    fixture.openssl(
      `req -newkey ${key} -nodes -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`,
    );
    fixture.openssl(
      `x509 -req -in ${name}.csr -CA ${certificateFile} -CAkey ${keyFile} -set_serial 77`,
      `-days 30 -extfile ${extensions} -out ${name}.pem`,
      options,
    );
    return fixture.read(name);
  }

  /** Signs a certificate that is valid between two times, as `openssl ca` expects them. */
  function signBetween(name: string, from: string, until: string): Certificate {
    const { certificateFile, keyFile } = authority.own;
    const lines = [
      '[ca]',
      'default_ca=own',
      '[own]',
      `database=${name}.index`,
      `serial=${name}.serial`,
      'policy=any',
    ];
    const more = ['default_md=sha256', 'new_certs_dir=.', '[any]', 'commonName=supplied', '[use]'];
    writeFileSync(
      join(fixture.directory, `${name}.cnf`),
      `${[...lines, ...more].join('\n')}\n${CLIENT}`,
    );
    writeFileSync(join(fixture.directory, `${name}.index`), '');
    writeFileSync(join(fixture.directory, `${name}.serial`), '4D\n');
    fixture.openssl(
      `req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`,
    );
    fixture.openssl(
      `ca -batch -notext -config ${name}.cnf -cert ${certificateFile} -keyfile ${keyFile}`,
      `-startdate ${from} -enddate ${until} -extensions use -in ${name}.csr -out ${name}.pem`,
    );
    return fixture.read(name);
  }

  const shallow = authority.issueAuthority('shallow', 0);
  const below = shallow.issueAuthority('below');
  const anna = authority.issueClient('anna');

  const kinds: readonly Kind[] = [
    ['of the authority', anna, null],
    ['without a purpose', sign('plain', 'basicConstraints=CA:FALSE\n'), null],
    ['of an intermediate authority', second.issueClient('deep'), null],
    ['below too many authorities', third.issueClient('deeper'), TOO_DEEP],
    ['below an authority that allows none below it', below.issueClient('far'), TOO_DEEP],
    ['of another authority of the same name', issueElsewhere(), UNKNOWN],
    ['issued by a client', sign('grandchild', CLIENT, anna), UNKNOWN],
    ['that was revoked', revoked, REVOKED_REASON],
    [
      'that has expired',
      signBetween('old', '20200101000000Z', '20210101000000Z'),
      'The client certificate has expired.',
    ],
    [
      'that is not valid yet',
      signBetween('new', '20450101000000Z', '20460101000000Z'),
      'The client certificate is not valid yet: compare the clocks.',
    ],
    ['for servers', sign('server', 'extendedKeyUsage=serverAuth\n'), NOT_FOR_CLIENTS],
    ['for any purpose', sign('any', 'extendedKeyUsage=anyExtendedKeyUsage\n'), NOT_FOR_CLIENTS],
    ['that must not sign', sign('mute', `${CLIENT}keyUsage=keyEncipherment\n`), NOT_FOR_CLIENTS],
    ['that is the authority', authority.own, NOT_FOR_CLIENTS],
    [
      'that is an authority for clients',
      sign('both', `${CLIENT}basicConstraints=CA:TRUE\nkeyUsage=digitalSignature,keyCertSign\n`),
      NOT_FOR_CLIENTS,
    ],
    [
      'with an unknown critical extension',
      sign('odd', `${CLIENT}1.2.3.4=critical,ASN1:UTF8String:x\n`),
      'The client certificate contains an extension that cannot be read.',
    ],
    ['with a weak key', signAgain('weak', 'rsa:1024'), WEAK],
    ['with a weak signature', signAgain('sha1', 'rsa:2048', '-sha1'), WEAK],
    [
      'of an authority whose list has expired',
      outdated.issueClient('late'),
      'The list of revoked certificates is out of date, so all clients are rejected: renew it on the server.',
    ],
    [
      'of an authority without a list',
      unlisted.issueClient('free'),
      'The list of revoked certificates is not of the authority of this client certificate.',
    ],
  ];

  function issueElsewhere(): Certificate {
    return fixture.createRoot('clients').issueClient('anna');
  }

  let stream: Stream;
  before(async () => {
    const intermediates = [first, second, third, shallow, below];
    const all = [authority, ...intermediates, outdated, unlisted];
    const authorityFile = join(fixture.directory, 'authorities.pem');
    writeFileSync(authorityFile, all.map(({ own }) => own.cert).join(''));
    const listed = intermediates.map((each) => each.writeRevocations([]));
    const lists = [authority.writeRevocations([revoked]), ...listed, outdatedList];
    const revocationFile = join(fixture.directory, 'lists.pem');
    writeFileSync(revocationFile, lists.map((path) => readFileSync(path, 'utf8')).join(''));
    const tls = readTlsMaterial({ ...server, clients: { authorityFile, revocationFile } });
    const expiry = tls.clients?.revocations.nextUpdate?.getTime() ?? 0;
    while (Date.now() <= expiry + 1000) await new Promise((resolve) => setTimeout(resolve, 50));
    stream = await openStream({ tls });
  });
  after(async () => {
    await stream[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });

  /** Connects as a client that shows a certificate, and through a proxy that forwards it. */
  const ways: Readonly<Record<string, (certificate: Certificate) => Promise<unknown>>> = {
    // A client may also use keys that its library calls weak.
    shown: async ({ cert, key }) =>
      (await connect(stream.port, [], { cert, key, ciphers: 'DEFAULT@SECLEVEL=0' })).receive(1),
    forwarded: async ({ cert }) => {
      const headers = { 'X-SSL-Client-Cert': encodeURIComponent(cert) };
      const shown = { cert: proxy.cert, key: proxy.key };
      return (await connect(stream.port, [], { ...shown, headers })).receive(1);
    },
  };

  for (const [what, certificate, refusal] of kinds) {
    for (const [way, watch] of Object.entries(ways)) {
      test(`${what} is ${refusal === null ? 'accepted' : 'refused'} when ${way}`, async () => {
        if (refusal === null) await watch(certificate);
        else await assert.rejects(watch(certificate), { message: `403 ${refusal}` });
      });
    }
  }
});
