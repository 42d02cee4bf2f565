/** Where an installation puts what. Named once, for the unit, the hook, the plan and the doctor speak of the same files. */
export const paths = {
  /** The program with its Node.js, as the package brings it. */
  program: '/usr/lib/latchkey-agent',
  command: '/usr/bin/latchkey-agent',

  configuration: '/etc/latchkey-agent/agent.yaml',
  /** The one before, when another mode needs another one: it holds what its owner has changed. */
  configurationBefore: '/etc/latchkey-agent/agent.yaml.before',
  certificate: '/etc/latchkey-agent/tls/fullchain.pem',
  certificateKey: '/etc/latchkey-agent/tls/privkey.pem',

  /** What the agent and nginx read of the own authority. */
  authorityCertificate: '/etc/latchkey-agent/pki/ca.pem',
  revocations: '/etc/latchkey-agent/pki/crl.pem',
  proxyCertificate: '/etc/latchkey-agent/pki/proxy.pem',
  proxyCertificateKey: '/etc/latchkey-agent/pki/proxy.key',

  /** The authority's key and register, for root only: out of the agent's reach. */
  authority: '/var/lib/latchkey-agent-authority',
  /** What an installation did, and what was there before: for undo, upgrade and uninstall. */
  journal: '/var/lib/latchkey-agent-install',
  /** Answers of the http-01 challenge, which nginx serves. */
  challenges: '/var/lib/latchkey-agent-challenges',

  unit: '/etc/systemd/system/latchkey-agent.service',
  revocationsUnit: '/etc/systemd/system/latchkey-agent-revocations.service',
  revocationsTimer: '/etc/systemd/system/latchkey-agent-revocations.timer',
  diskHealthUnit: '/etc/systemd/system/latchkey-agent-disks.service',
  diskHealthTimer: '/etc/systemd/system/latchkey-agent-disks.timer',
  /** A template: its instances open a port in nftables at each start. */
  portUnit: '/etc/systemd/system/latchkey-agent-port@.service',
  /** certbot runs what lies here after each renewal of any certificate. */
  renewalHook: '/etc/letsencrypt/renewal-hooks/deploy/latchkey-agent',

  nginxServer: '/etc/nginx/conf.d/latchkey-agent.conf',
  /** Apart from the server, for it is there before the certificate is. */
  nginxChallengeServer: '/etc/nginx/conf.d/latchkey-agent-challenge.conf',
  /** What counts the connections of each client. */
  nginxLimits: '/etc/nginx/conf.d/latchkey-agent-limits.conf',
  nginxRoute: '/etc/nginx/snippets/latchkey-agent.conf',
  nginxChallenge: '/etc/nginx/snippets/latchkey-agent-challenge.conf',
} as const;

/** The system user that the agent runs as, and its group. */
export const agentUser = 'latchkey-agent';

/** The one that the agent listens on, in every mode. */
export const AGENT_PORT = 4096;

export const agentUnit = 'latchkey-agent.service';

/** A file among the answers to challenges, by which an installation and the doctor see that they are reached. */
export const challengeProbe = {
  directory: paths.challenges,
  name: 'latchkey-agent',
  path: `${paths.challenges}/.well-known/acme-challenge/latchkey-agent`,
  text: 'Answers to challenges are served from here.\n',
} as const;
