/** Faults of an installed agent: the cause, the doctor's finding, and the fix. */
import { paths } from '#agent/install/paths.ts';

import { setAddress } from './acme.ts';
import type { Installation } from './installation.ts';
import { MACHINE_ADDRESS } from './machine.ts';
import { DOMAIN } from './web-servers.ts';

export interface Fault {
  /** As in the installation guide. */
  readonly symptom: string;
  readonly check: string;
  /** The facts that the cause contains: a port, a path, a state of systemd. The unit tests of the doctor assert its wording. */
  readonly facts: RegExp;
  readonly arrange: (installation: Installation) => Promise<unknown>;
  readonly repair: (installation: Installation) => Promise<unknown>;
}

/** systemd stops a service that is started often, unless it is reset. */
const RESTART = 'systemctl reset-failed latchkey-agent; systemctl restart latchkey-agent';
const RELOAD_NGINX = 'systemctl reload nginx';
const OTHER_PAGE = 'https://console.example.com';
const OTHER_SERVER = '/etc/nginx/conf.d/00-other.conf';

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
const KEEP_CERTIFICATE = `cp -p ${paths.certificate} ${paths.certificateKey} /root`;
const PUT_CERTIFICATE_BACK = `cp -p /root/fullchain.pem /root/privkey.pem /etc/latchkey-agent/tls && ${RESTART}`;

const EXPIRED = `openssl req ${NEW_KEY} -subj /CN=${DOMAIN} -keyout /root/own.key -out /root/own.csr
openssl x509 -req -in /root/own.csr -signkey /root/own.key -days -1 -out /root/own.pem
cat /root/own.pem >${paths.certificate}; cat /root/own.key >${paths.certificateKey}`;

/** Machines share the clock of the host, so the certificate is dated ahead instead of a clock that is behind. */
const AHEAD = `cd /root && : >index
printf '[ca]\\ndefault_ca=own\\n[own]\\ndatabase=/root/index\\nnew_certs_dir=/root\\nrand_serial=yes\\ndefault_md=sha256\\npolicy=any\\n[any]\\ncommonName=supplied\\n' >ca.cnf
openssl req ${NEW_KEY} -subj /CN=${DOMAIN} -keyout own.key -out own.csr
openssl ca -config ca.cnf -batch -notext -selfsign -keyfile own.key -in own.csr -out own.pem -startdate 20990101000000Z -enddate 20991231000000Z
cat own.pem >${paths.certificate}; cat own.key >${paths.certificateKey}`;

/** Signed by the authority's own key, as usual but for the time. */
const OUTDATED_LIST = `cd /root && : >index && echo 4096 >number
printf '[ca]\\ndefault_ca=own\\n[own]\\ndatabase=/root/index\\ncrlnumber=/root/number\\ndefault_md=sha256\\n' >ca.cnf
openssl ca -config ca.cnf -cert ${paths.authorityCertificate} -keyfile ${paths.authority}/ca.key -gencrl -crlsec 1 -out ${paths.revocations}
sleep 1.1`;

const ANOTHER_SERVER = `server {
    listen 443 ssl;
    server_name ${DOMAIN};
    ssl_certificate /etc/letsencrypt/live/${DOMAIN}/fullchain.pem;
    ssl_certificate_key /etc/letsencrypt/live/${DOMAIN}/privkey.pem;
}
`;

/** Faults of an agent that is reached directly. */
export const STANDALONE_FAULTS: readonly Fault[] = [
  {
    symptom: 'connection refused',
    check: 'agent_running',
    facts: /\binactive\b/,
    arrange: (at) => run(at, 'systemctl stop latchkey-agent'),
    repair: (at) => run(at, RESTART),
  },
  {
    symptom: 'port already in use: 4096',
    check: 'ports',
    facts: /\(pid \d+\).* 0\.0\.0\.0:4096\b/,
    arrange: (at) => run(at, `systemctl stop latchkey-agent && ${occupy(4096)}`),
    repair: (at) => run(at, `systemctl stop occupier && ${RESTART}`),
  },
  {
    symptom: 'port already in use: 80',
    check: 'ports',
    facts: /\bport 80\b.*\bcertbot\b/,
    arrange: (at) => run(at, occupy(80)),
    repair: (at) => run(at, 'systemctl stop occupier'),
  },
  {
    symptom: 'certificate verify failed: wrong file permissions',
    check: 'certificate',
    facts: /\blatchkey-agent\b.*\/privkey\.pem/,
    arrange: (at) => run(at, `chmod 600 ${paths.certificateKey}`),
    repair: (at) => run(at, `chmod 640 ${paths.certificateKey} && ${RESTART}`),
  },
  {
    symptom: 'certificate verify failed: expired',
    check: 'certificate',
    facts: /\/fullchain\.pem expired on 20/,
    arrange: (at) => run(at, `${KEEP_CERTIFICATE}\n${EXPIRED}`),
    repair: (at) => run(at, PUT_CERTIFICATE_BACK),
  },
  {
    symptom: 'certificate verify failed: the clock is behind',
    check: 'clock',
    facts: /\b20\d\d-\d\d-\d\dT/,
    arrange: (at) => run(at, `${KEEP_CERTIFICATE}\n${AHEAD}`),
    repair: (at) => run(at, PUT_CERTIFICATE_BACK),
  },
  {
    symptom: 'domain validation failed',
    check: 'domain',
    facts: new RegExp(`^${DOMAIN} .*\\b10\\.41\\.0\\.99\\b`),
    arrange: ({ machine }) => setAddress(machine.sandbox, DOMAIN, '10.41.0.99'),
    repair: ({ machine }) => setAddress(machine.sandbox, DOMAIN, MACHINE_ADDRESS),
  },
  {
    symptom: 'not reachable from the internet: bound to 127.0.0.1',
    check: 'bind_address',
    facts: /\bstandalone\b.* 127\.0\.0\.1\b/,
    arrange: (at) => run(at, listenOn('127.0.0.1')),
    repair: (at) => run(at, listenOn('0.0.0.0')),
  },
  {
    symptom: 'connections time out: a firewall',
    check: 'firewall',
    facts: /^ufw .*\b80, 4096\b/,
    arrange: (at) => run(at, 'ufw --force enable'),
    repair: (at) => run(at, 'ufw --force disable'),
  },
];

/** Faults of an agent behind nginx with mutual TLS. */
export const PROXY_FAULTS: readonly Fault[] = [
  {
    symptom: '502 on the proxy route',
    check: 'proxy_route',
    facts: / 127\.0\.0\.1:4096\b/,
    arrange: (at) => run(at, 'systemctl stop latchkey-agent'),
    repair: (at) => run(at, RESTART),
  },
  {
    symptom: '502 on the proxy route: another port',
    check: 'proxy_route',
    facts: /^nginx .*\b127\.0\.0\.1:4096\b.*\b5000\b/,
    arrange: (at) => run(at, listenOn('127.0.0.1', 5000)),
    repair: (at) => run(at, listenOn('127.0.0.1')),
  },
  {
    symptom: '404 on the health route',
    check: 'proxy_health',
    facts: new RegExp(`\\b${DOMAIN}\\b.*\\bnginx\\b`),
    arrange: (at) =>
      run(
        at,
        `cp ${paths.nginxServer} /root && sed -i 's#location \\(.*\\) /latchkey#location \\1 /elsewhere#' ${paths.nginxServer} && ${RELOAD_NGINX} && sleep 0.5`,
      ),
    repair: (at) =>
      run(at, `cp /root/latchkey-agent.conf ${paths.nginxServer} && ${RELOAD_NGINX} && sleep 0.5`),
  },
  {
    symptom: '496 with a valid certificate',
    check: 'proxy_certificates',
    facts: new RegExp(`^nginx .*${paths.authorityCertificate}`),
    arrange: (at) =>
      run(
        at,
        `cp -p ${paths.authorityCertificate} /root && openssl req -x509 ${NEW_KEY} -days 9 -subj /CN=other -keyout /root/o.key -out /root/o.pem && cat /root/o.pem >${paths.authorityCertificate} && ${RELOAD_NGINX} && sleep 0.5`,
      ),
    repair: (at) =>
      run(
        at,
        `cp -p /root/ca.pem ${paths.authorityCertificate} && ${RELOAD_NGINX} && ${RESTART} && sleep 0.5`,
      ),
  },
  {
    symptom: 'a warning of a conflicting server name',
    check: 'server_names',
    facts: /conflicting server name/,
    arrange: async (at) => {
      at.machine.write(OTHER_SERVER, ANOTHER_SERVER);
      await run(at, `${RELOAD_NGINX} && sleep 0.5`);
    },
    repair: (at) => run(at, `rm ${OTHER_SERVER} && ${RELOAD_NGINX} && sleep 0.5`),
  },
  {
    symptom: 'port 4096 exposed in proxy mode',
    check: 'bind_address',
    facts: / 0\.0\.0\.0\b.*\bproxy\b/,
    arrange: (at) => run(at, listenOn('0.0.0.0')),
    repair: (at) => run(at, listenOn('127.0.0.1')),
  },
  {
    symptom: 'every client refused: a list of revoked certificates that is out of date',
    check: 'revocations',
    facts: new RegExp(`${paths.revocations} expired on 20`),
    arrange: (at) => run(at, OUTDATED_LIST),
    repair: (at) => run(at, `latchkey-agent client-cert refresh-list && ${RESTART} && sleep 0.5`),
  },
  {
    symptom: 'pages of other sites cannot watch',
    check: 'origins',
    facts: /\bOrigin\b/,
    arrange: (at) =>
      run(
        at,
        `latchkey-agent origins add ${OTHER_PAGE} && cp ${paths.nginxServer} /root && sed -i 's#proxy_set_header Host#proxy_set_header Origin ""; proxy_set_header Host#' ${paths.nginxServer} && ${RELOAD_NGINX} && sleep 0.5`,
      ),
    repair: (at) =>
      run(
        at,
        `cp /root/latchkey-agent.conf ${paths.nginxServer} && ${RELOAD_NGINX} && latchkey-agent origins remove ${OTHER_PAGE} && sleep 0.5`,
      ),
  },
];

function run({ machine }: Installation, script: string): Promise<string> {
  return machine.succeed(['sh', '-ec', script]);
}

function listenOn(host: string, port = 4096): string {
  return `sed -i 's#^listen: .*#listen: ${host}:${port}#' ${paths.configuration} && ${RESTART}`;
}

/** Makes another program listen on a port. */
function occupy(port: number): string {
  const listen = `require("net").createServer().listen(${port},"0.0.0.0")`;
  return `systemd-run -q --unit=occupier ${paths.program}/lib/node -e '${listen}'
until ss -Hltn sport = :${port} | grep -q .; do sleep 0.05; done`;
}
