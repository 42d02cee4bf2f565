/**
 * `npm run package:agent`: builds `dist/latchkey-agent-linux-x64.tar.gz`, which runs on Linux with x64 without dependencies,
 * its SHA-256 and its manifest; `-- --arch arm64` builds it for arm64, and `-- --sign KEY` signs the manifest (`ssh-keygen -Y sign`),
 * with an install.sh that verifies it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { repository } from './lib/steps.ts';
import { parseArchitecture } from './package/locked-packages.ts';
import { packAgent } from './package/pack-agent.ts';
import { embedSigner, signPackage } from './package/sign-package.ts';

const { values } = parseArgs({
  options: { arch: { type: 'string', default: 'x64' }, sign: { type: 'string' } },
});
const arch = parseArchitecture(values.arch);
const { name, archive, sum, manifest, summary } = await packAgent(repository, arch);
const folder = join(repository, 'dist');
await mkdir(folder, { recursive: true });
await writeFile(join(folder, name), archive);
await writeFile(join(folder, `${name}.sha256`), sum);
await writeFile(join(folder, `${name}.manifest`), manifest);
console.log(`dist/${summary}`);
console.log(`SHA-256 ${sum.split(' ', 1).join('')}`);
if (values.sign !== undefined) {
  console.log(`dist/${await signPackage(join(folder, name), values.sign)}`);
  const script = join(repository, 'agent', 'install.sh');
  await writeFile(join(folder, 'install.sh'), await embedSigner(script, values.sign), {
    mode: 0o755,
  });
  console.log('dist/install.sh, which accepts packages that are signed with this key');
}
