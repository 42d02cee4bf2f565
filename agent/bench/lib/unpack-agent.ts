import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Packs and unpacks the agent, so that the installed form is measured.
 * @returns the path of its program
 */
export function unpackAgent(directory: string): string {
  execFileSync('npm', ['run', '--silent', 'package:agent'], { cwd: root, stdio: 'inherit' });
  const archive = join(root, 'dist', 'latchkey-agent-linux-x64.tar.gz');
  execFileSync('tar', ['-xzf', archive, '-C', directory]);
  const folder = readdirSync(directory).find((name) => name.startsWith('latchkey-agent-')) ?? '';
  return join(directory, folder, 'bin', 'latchkey-agent');
}
