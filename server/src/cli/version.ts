/** `latchkey version`. */
import { version } from '#server/lib/version.ts';

import { command } from './command.ts';

export const versionCommand = command({
  name: 'version',
  description: 'Print the versions of Latchkey and Node.js.',
  examples: { 'version --json': 'The versions as JSON' },
  run() {
    const { node } = process.versions;
    const platform = `${process.platform}-${process.arch}`;
    return {
      json: { version, node, platform },
      text: `latchkey ${version} (Node.js ${node}, ${platform})`,
    };
  },
});
