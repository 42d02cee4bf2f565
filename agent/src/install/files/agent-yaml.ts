import type { InstallMode } from '../facts.ts';
import { paths } from '../paths.ts';

/** Options of the comments in the agent's configuration. */
export interface AgentYamlOptions {
  readonly domain: string;
  readonly mode: InstallMode;
  readonly mutualTls: boolean;
}

const LISTEN: Readonly<Record<InstallMode, string>> = {
  standalone:
    '# Where viewers connect; 0.0.0.0 is every IPv4 address, "[::]" every address of IPv6 and IPv4.',
  proxy:
    '# Where the reverse proxy on this machine connects. Viewers come through it, and this port is not open to them.',
};

const TLS: Readonly<Record<InstallMode, string>> = {
  standalone: '# TLS 1.2 and 1.3. The files are replaced at each renewal.',
  proxy:
    '# TLS 1.2 and 1.3 between the proxy and the agent. Viewers see the certificate of the proxy.',
};

const CERTIFICATES: Readonly<Record<InstallMode, string>> = {
  standalone:
    '# Mutual TLS: viewers present a certificate that latchkey-agent client-cert created.',
  proxy:
    '# Mutual TLS: the proxy presents a certificate of its own, and requests one from viewers that latchkey-agent client-cert created.',
};

const NO_CERTIFICATES =
  '# Mutual TLS: off or required. Install again with --mtls to create an authority.';

/** Lists the settings with comments, in the order of the file. Settings without comments follow in their section. */
function listCommented({ mode, mutualTls }: AgentYamlOptions): [string, string][] {
  return [
    ['listen', LISTEN[mode]],
    ['interval_seconds', '# Seconds between two snapshots, 1 to 60; 5 for less load.'],
    ['tls.certificate_file', ''],
    ['tls.key_file', ''],
    ['tls.server_name', ''],
    ['viewers.certificates', mutualTls ? CERTIFICATES[mode] : NO_CERTIFICATES],
    ['viewers.authority_file', ''],
    ['viewers.revocation_file', ''],
    [
      'viewers.tokens_file',
      '# A file with access tokens, one in each line: a viewer without a certificate then needs one.',
    ],
    [
      'viewers.allowed_origins',
      '# Pages of other origins that may watch, such as https://console.example.com; "*" is all.',
    ],
  ];
}

/** Settings that are written even with their defaults, so that they are easy to find. */
const SHOWN = new Map<string, unknown>([
  ['viewers.tokens_file', null],
  ['viewers.allowed_origins', []],
]);

/** Settings that are left out when they are null, which is their default. */
const HIDDEN_WHEN_NULL = new Set(['viewers.authority_file', 'viewers.revocation_file']);

/**
 * Renders the agent's configuration.
 * @param settings every setting by its name, such as `viewers.tokens_file`
 */
export function renderAgentYaml(
  options: AgentYamlOptions,
  settings: ReadonlyMap<string, unknown>,
): string {
  const { domain, mode } = options;
  const comments = new Map(listCommented(options));
  const all = new Map([...SHOWN, ...settings]);
  const names = [...comments.keys(), ...[...all.keys()].filter((name) => !comments.has(name))];
  const written = names.filter((name) => all.has(name) && !isHidden(name, all.get(name)));
  const blocks = groupBySection(written).map(([section, fields]) => {
    const indent = section === '' ? '' : '  ';
    const lines = fields.flatMap((name) => {
      const comment = comments.get(name) ?? '';
      const line = `${indent}${name.slice(name.indexOf('.') + 1)}: ${toYaml(all.get(name))}`;
      return comment === '' ? [line] : [`${indent}${comment}`, line];
    });
    if (section === '') return lines.join('\n');
    const note = section === 'tls' ? `${TLS[mode]}\n` : '';
    return `${note}${section}:\n${lines.join('\n')}`;
  });
  return `# The configuration of the Latchkey agent, written by latchkey-agent install, in ${mode} mode for ${domain}.
# You may change it: a reinstallation with the same options keeps it. latchkey-agent validate checks it;
# systemctl restart latchkey-agent applies it. Every setting is explained in
# ${paths.program}/agent.example.yaml

${blocks.join('\n\n')}
`;
}

function isHidden(name: string, value: unknown): boolean {
  return HIDDEN_WHEN_NULL.has(name) && value === null;
}

/** Groups settings by section, in the order of their first setting; those without a section stay alone. */
function groupBySection(names: readonly string[]): [string, string[]][] {
  const groups: [string, string[]][] = [];
  const sections = new Map<string, string[]>();
  for (const name of names) {
    const section = name.includes('.') ? name.slice(0, name.indexOf('.')) : '';
    const known = section === '' ? undefined : sections.get(section);
    if (known === undefined) {
      const fields = [name];
      groups.push([section, fields]);
      sections.set(section, fields);
    } else known.push(name);
  }
  return groups;
}

/** JSON is YAML, too; paths, and IPv4 addresses with a port, need no quotes. */
function toYaml(value: unknown): string {
  const isPlain =
    typeof value === 'string' && /^(?:\/[\w./-]*|[\d.]+:\d+|off|required)$/u.test(value);
  return isPlain ? value : (JSON.stringify(value) ?? 'null');
}
