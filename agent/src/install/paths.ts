/** The paths of an installation, shared by units, hook, plan and doctor. */
export const paths = {
  /** The program with its Node.js, as packaged. */
  program: '/usr/lib/latchkey-agent',
  command: '/usr/bin/latchkey-agent',

  configuration: '/etc/latchkey-agent/agent.yaml',
  /** The previous configuration with the administrator's changes, kept when it is rewritten. */
  configurationBefore: '/etc/latchkey-agent/agent.yaml.before',
  certificate: '/etc/latchkey-agent/tls/fullchain.pem',
  certificateKey: '/etc/latchkey-agent/tls/privkey.pem',

  /** The authority's files that the agent and nginx read. */
  authorityCertificate: '/etc/latchkey-agent/pki/ca.pem',
  revocations: '/etc/latchkey-agent/pki/crl.pem',
  proxyCertificate: '/etc/latchkey-agent/pki/proxy.pem',
  proxyCertificateKey: '/etc/latchkey-agent/pki/proxy.key',

  /** The authority's key and register, readable by root only. */
  authority: '/var/lib/latchkey-agent-authority',
  /** The journal, backups and register of an installation. */
  journal: '/var/lib/latchkey-agent-install',
  /** Answers to the http-01 challenge, which nginx serves. */
  challenges: '/var/lib/latchkey-agent-challenges',

  unit: '/etc/systemd/system/latchkey-agent.service',
  revocationsUnit: '/etc/systemd/system/latchkey-agent-revocations.service',
  revocationsTimer: '/etc/systemd/system/latchkey-agent-revocations.timer',
  diskHealthUnit: '/etc/systemd/system/latchkey-agent-disks.service',
  diskHealthTimer: '/etc/systemd/system/latchkey-agent-disks.timer',
  /** A unit template: each instance opens a port in nftables at boot. */
  portUnit: '/etc/systemd/system/latchkey-agent-port@.service',
  /** A certbot deploy hook. */
  renewalHook: '/etc/letsencrypt/renewal-hooks/deploy/latchkey-agent',

  nginxServer: '/etc/nginx/conf.d/latchkey-agent.conf',
  /** Separate from the server block, because it exists before the certificate does. */
  nginxChallengeServer: '/etc/nginx/conf.d/latchkey-agent-challenge.conf',
  /** The zone that counts the connections of each client. */
  nginxLimits: '/etc/nginx/conf.d/latchkey-agent-limits.conf',
  nginxRoute: '/etc/nginx/snippets/latchkey-agent.conf',
  nginxChallenge: '/etc/nginx/snippets/latchkey-agent-challenge.conf',
} as const;

/** The system user of the agent, and its group. */
export const agentUser = 'latchkey-agent';

/** The agent's default port, in every mode. */
export const AGENT_PORT = 4096;

export const agentUnit = 'latchkey-agent.service';

/** A file in the challenge directory by which the installer and the doctor test that it is served. */
export const challengeProbe = {
  directory: paths.challenges,
  name: 'latchkey-agent',
  path: `${paths.challenges}/.well-known/acme-challenge/latchkey-agent`,
  text: 'Answers to challenges are served from here.\n',
} as const;
