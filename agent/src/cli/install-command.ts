import { Command, InvalidArgumentError, Option } from 'commander';

import { openNftPort } from '../install/apply/nftables.ts';
import { runProgram } from '../system/run-program.ts';
import type { InstallFlags } from './install-action.ts';
import { withExamples } from './output.ts';
import type { UninstallFlags } from './uninstall-action.ts';

const OPTIONS: readonly (readonly [string, string])[] = [
  ['--domain <name>', 'the name by which viewers reach this machine (LATCHKEY_DOMAIN)'],
  ['--email <address>', 'contact address for the certificate authority (LATCHKEY_EMAIL)'],
  ['--mode <mode>', 'auto, standalone or proxy (LATCHKEY_INSTALL_MODE)'],
  ['--force-standalone', 'standalone even next to a reverse proxy (LATCHKEY_FORCE_STANDALONE=yes)'],
  ['--proxy-path <path>', 'where viewers connect behind the proxy (LATCHKEY_PROXY_PATH)'],
  [
    '--proxy-by-hand [yes|no]',
    'behind a web server that you configure yourself (LATCHKEY_PROXY_BY_HAND=yes)',
  ],
  ['--mtls [yes|no]', 'require client certificates of viewers (LATCHKEY_MTLS=yes)'],
  ['--acme-server <url>', 'another certificate authority (LATCHKEY_ACME_SERVER)'],
  ['--cert-file <file>', 'a certificate of your own, with --key-file (LATCHKEY_CERT_FILE)'],
  ['--key-file <file>', 'its key (LATCHKEY_KEY_FILE)'],
  ['--scrape-interval <seconds>', 'seconds between snapshots, 1 to 60 (LATCHKEY_SCRAPE_INTERVAL)'],
  [
    '--allowed-origins <origins>',
    'pages of other sites that may watch, separated by commas (LATCHKEY_ALLOWED_ORIGINS)',
  ],
  ['--open-firewall', 'open the required ports (LATCHKEY_OPEN_FIREWALL=yes)'],
  ['--skip-dns-check', 'accept a domain that resolves elsewhere (LATCHKEY_SKIP_DNS_CHECK=yes)'],
  [
    '--allow-downgrade',
    'accept a version older than the installed one (LATCHKEY_AGENT_ALLOW_DOWNGRADE=yes)',
  ],
  ['--dry-run', 'print every step and file without changing anything'],
  ['--verbose', 'print each program that is run'],
];

/** `latchkey-agent install`. What it needs is loaded only when it is used. */
export function installCommand(): Command {
  const command = new Command('install').description(
    'Install or upgrade the agent on this machine; for root. Exit code 0; 1: failed and undone; 3: manual steps are needed, as printed; 78: invalid or missing option.',
  );
  for (const [flags, description] of OPTIONS) command.addOption(new Option(flags, description));
  command.action(async (flags: InstallFlags) => {
    const { installAgent } = await import('./install-action.ts');
    await installAgent(flags);
  });
  return withExamples(command, [
    ['install --domain db-1.example.com --email ops@example.com', 'With its own certificate'],
    [
      'install --domain db-1.example.com --email ops@example.com --dry-run',
      'Print what that would do',
    ],
    ['install', 'Again, or an upgrade: with the options of the first installation'],
  ]);
}

/** `latchkey-agent uninstall`. What it needs is loaded only when it is used. */
export function uninstallCommand(): Command {
  const command = new Command('uninstall')
    .description('Undo all changes of installations; for root. Exit code 0 or 1.')
    .addOption(new Option('--dry-run', 'print what would be undone without changing anything'))
    .addOption(
      new Option(
        '--keep-configuration',
        'keep /etc/latchkey-agent, the authority for client certificates, and their owner',
      ),
    )
    .addOption(new Option('--verbose', 'print each program that is run'))
    .action(async (flags: UninstallFlags) => {
      const { uninstallAgent } = await import('./uninstall-action.ts');
      await uninstallAgent(flags);
    });
  return withExamples(command, [
    ['uninstall --dry-run', 'Print what would be removed or restored'],
    ['uninstall --keep-configuration', 'Keep the configuration for a later installation'],
  ]);
}

/** `latchkey-agent open-port`, which the unit latchkey-agent-port@.service runs. Not in the help: --open-firewall sets it up. */
export function openPortCommand(): Command {
  const command = new Command('open-port')
    .description('Open a port in nftables, unless it is open already; for root.')
    .argument('<port>', 'the TCP port, 1 to 65535', readPort)
    .action(async (port: number) => {
      await openNftPort(port, { root: '', ownerId: 0, runProgram });
    });
  return withExamples(command, [['open-port 4096', 'At each start, by its unit']]);
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 1 to 65535.');
}
