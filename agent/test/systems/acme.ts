/** A public authority for machines: pebble, with a name server that resolves every domain to the machine. */
import { type Machine, MACHINE_ADDRESS, OUTSIDE_ADDRESS } from './machine.ts';
import { DISK, type Sandbox } from './sandbox.ts';

const FOLDER = `${DISK}/acme`;
const NAME = 'acme.example.test';

export const ACME_SERVER = `https://${NAME}:14000/dir`;

/** Creates an authority for pebble's own HTTPS, one for each sandbox. */
const CREATE_CERTIFICATE = `
set -e
mkdir -p ${FOLDER}; cd ${FOLDER}
new_key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
openssl req -x509 $new_key -days 30 -subj '/CN=authority of a test' -keyout ca.key -out ca.pem
openssl req $new_key -subj /CN=${NAME} -keyout own.key -out own.csr
printf 'subjectAltName=DNS:${NAME},IP:127.0.0.1\\nextendedKeyUsage=serverAuth' >own.ext
openssl x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile own.ext -out own.pem
cat >pebble.json
`;

const CONFIGURATION = {
  pebble: {
    listenAddress: '0.0.0.0:14000',
    managementListenAddress: '0.0.0.0:15000',
    certificate: `${FOLDER}/own.pem`,
    privateKey: `${FOLDER}/own.key`,
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  },
};

/** Without delays and random rejections. */
const CERTAINTY = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', PEBBLE_AUTHZREUSE: '0' };

/** Retried until the other side listens. */
const ASK = ['curl', '--silent', '--fail', '--retry', '9', '--retry-all-errors'];

export interface Acme {
  /** The root of what it issues. */
  readonly root: string;
}

/** Starts pebble beside a machine, which then trusts its HTTPS and uses its name server. */
export async function startAcme(machine: Machine): Promise<Acme> {
  const { sandbox } = machine;
  await sandbox.succeed(['sh', '-c', CREATE_CERTIFICATE], JSON.stringify(CONFIGURATION));
  startNameServer(sandbox);
  const pebble = ['pebble', '-config', `${FOLDER}/pebble.json`, '-dnsserver', '127.0.0.1:53'];
  sandbox.start([...pebble, '-strict=false'], 'pebble.log', CERTAINTY);
  // Where Debian's certbot and curl look.
  await machine.succeed(['tee', '-a', '/etc/ssl/certs/ca-certificates.crt'], {
    input: await sandbox.succeed(['cat', `${FOLDER}/ca.pem`]),
  });
  await configureNameServer(sandbox, 'add-a', { host: NAME, addresses: [OUTSIDE_ADDRESS] });
  const address = 'https://127.0.0.1:15000/roots/0';
  const root = await sandbox.succeed([...ASK, '--cacert', `${FOLDER}/ca.pem`, address]);
  return { root };
}

/** Resolves a name to another address only. */
export async function setAddress(sandbox: Sandbox, host: string, address: string): Promise<void> {
  await configureNameServer(sandbox, 'clear-a', { host });
  await configureNameServer(sandbox, 'add-a', { host, addresses: [address] });
}

async function configureNameServer(sandbox: Sandbox, path: string, body: object): Promise<void> {
  const address = `http://127.0.0.1:8055/${path}`;
  await sandbox.succeed([...ASK, '--data', JSON.stringify(body), address]);
}

function startNameServer(sandbox: Sandbox): void {
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', ''];
  const names = ['-defaultIPv4', MACHINE_ADDRESS, '-defaultIPv6', '', '-dns01', ':53'];
  sandbox.start(['pebble-challtestsrv', ...names, ...off, '-management', ':8055'], 'names.log');
}
