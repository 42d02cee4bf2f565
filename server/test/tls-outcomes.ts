/** How connections end with each sslmode: measured with psql, and expected of the service. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';

import { CertificateFixture, type Certificate } from '../../agent/test/certificates.ts';

import type { TlsSettings } from './tls-postgres.ts';

export const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

/** Certificates of one authority, unless they say otherwise. */
export interface Certificates extends Disposable {
  /** A directory without `.postgresql`, as a home. */
  readonly directory: string;
  readonly root: Certificate;
  readonly otherRoot: Certificate;
  /** For localhost and 127.0.0.1. */
  readonly server: Certificate;
  readonly selfSigned: Certificate;
  readonly otherName: Certificate;
  readonly expired: Certificate;
  readonly client: Certificate;
  readonly unknownClient: Certificate;
  /** Paths of revocation lists: one without `server`, one with it. */
  readonly revocations: { readonly withoutServer: string; readonly withServer: string };
}

/** Creates certificates with openssl. */
export function createCertificates(): Certificates {
  const fixture = new CertificateFixture();
  const root = fixture.createRoot('authority');
  const other = fixture.createRoot('other');
  const otherName = fixture.sign(root.own, 'elsewhere', {
    extensions: 'subjectAltName=DNS:db.example.com\nextendedKeyUsage=serverAuth\n',
  });
  fixture.openssl(
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 30',
    '-addext subjectAltName=DNS:localhost -keyout self.key -out self.pem',
  );
  const server = root.issueServer();
  const withoutServer = join(fixture.directory, 'without-server.crl');
  copyFileSync(root.writeRevocations([]), withoutServer);
  return {
    directory: fixture.directory,
    root: root.own,
    otherRoot: other.own,
    server,
    revocations: { withoutServer, withServer: root.writeRevocations([server]) },
    selfSigned: fixture.read('self'),
    otherName: fixture.read(otherName),
    expired: root.issueServer(-1),
    client: root.issueClient('latchkey'),
    unknownClient: other.issueClient('latchkey'),
    [Symbol.dispose]: () => fixture[Symbol.dispose](),
  };
}

/** Which files the client has. */
export interface ClientFiles {
  readonly root?: 'root' | 'otherRoot' | 'selfSigned';
  readonly client?: 'client' | 'unknownClient';
}

/** Returns the parameters of a URL. */
export function toParameters(
  files: ClientFiles,
  certificates: Certificates,
): Record<string, string> {
  const root = files.root === undefined ? null : certificates[files.root];
  const client = files.client === undefined ? null : certificates[files.client];
  return {
    ...(root === null ? {} : { sslrootcert: root.certificateFile }),
    ...(client === null ? {} : { sslcert: client.certificateFile, sslkey: client.keyFile }),
  };
}

/** A server, and for the files of each client the outcome with each of MODES: unencrypted, encrypted, or none (-). */
export interface Scenario {
  readonly name: string;
  readonly settings: (certificates: Certificates) => TlsSettings;
  readonly clients: readonly (readonly [ClientFiles, string])[];
}

const ANY = ['host all all all trust'];

const CLIENT_REQUIRED = 'hostssl all all all trust clientcert=verify-ca';

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a server without TLS',
    settings: () => ({ certificate: null, rules: ANY }),
    clients: [
      [{}, 'plain plain plain - - -'],
      [{ root: 'root' }, 'plain plain plain - - -'],
    ],
  },
  {
    name: 'a certificate of an authority',
    settings: ({ server }) => ({ certificate: server, rules: ANY }),
    clients: [
      [{}, 'plain plain tls tls - -'],
      [{ root: 'root' }, 'plain plain tls tls tls tls'],
      // Verified with any mode, and then without encryption where the mode permits it.
      [{ root: 'otherRoot' }, 'plain plain plain - - -'],
    ],
  },
  {
    name: 'a self-signed certificate',
    settings: ({ selfSigned }) => ({ certificate: selfSigned, rules: ANY }),
    clients: [
      [{}, 'plain plain tls tls - -'],
      [{ root: 'selfSigned' }, 'plain plain tls tls tls tls'],
      [{ root: 'root' }, 'plain plain plain - - -'],
    ],
  },
  {
    name: 'a certificate for another host name',
    settings: ({ otherName }) => ({ certificate: otherName, rules: ANY }),
    clients: [
      [{}, 'plain plain tls tls - -'],
      [{ root: 'root' }, 'plain plain tls tls tls -'],
    ],
  },
  {
    name: 'a certificate that has expired',
    settings: ({ expired }) => ({ certificate: expired, rules: ANY }),
    clients: [
      [{}, 'plain plain tls tls - -'],
      [{ root: 'root' }, 'plain plain plain - - -'],
    ],
  },
  {
    name: 'a server that requires encryption',
    settings: ({ server }) => ({ certificate: server, rules: ['hostssl all all all trust'] }),
    clients: [
      [{}, '- tls tls tls - -'],
      [{ root: 'root' }, '- tls tls tls tls tls'],
      [{ root: 'otherRoot' }, '- - - - - -'],
    ],
  },
  {
    name: 'a server that refuses encryption',
    settings: ({ server }) => ({ certificate: server, rules: ['hostnossl all all all trust'] }),
    clients: [[{ root: 'root' }, 'plain plain plain - - -']],
  },
  {
    name: 'a server that requires a certificate of the client',
    settings: ({ server, root }) => ({
      certificate: server,
      clientAuthority: root,
      rules: [CLIENT_REQUIRED],
    }),
    clients: [
      [{ root: 'root' }, '- - - - - -'],
      [{ root: 'root', client: 'client' }, '- tls tls tls tls tls'],
      [{ root: 'root', client: 'unknownClient' }, '- - - - - -'],
    ],
  },
];
