/** The commands of RELEASING.md, run in a clone of the repository with its uncommitted changes. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { repository } from '../../lib/steps.ts';
import { ownVariables } from './own-variables.ts';

const run = promisify(execFile);

/** Building everything twice takes minutes on a busy machine. */
const TIMEOUT_MS = 1_500_000;

const COPY = `
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --ignore-failed-read --files-from=- | tar --extract --directory="$SOURCE"
cd "$SOURCE" && git init --quiet && git add --all`;

const NAME = 'Test';
const EMAIL = 'test@example.com';

/** Copies the installed packages, which npm would install again from the same lock file. */
const NPM = `#!/bin/sh
[ -e node_modules ] || cp --archive '${repository}node_modules' .
PATH=\${PATH#*:} exec npm "$@"
`;

/** Answers the question for a passphrase with an empty one. */
const ASKPASS = '#!/bin/sh\necho\n';

export class ReleaseClone implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  /** The private key of the release, outside of both clones. */
  readonly key = join(this.#folder, '.ssh', 'latchkey-release');
  /** The clone in which the maintainers commit. */
  readonly source = join(this.#folder, 'source');
  /** The clean clone that RELEASING.md creates. */
  readonly clean = join(this.#folder, 'tmp', 'latchkey-release');
  readonly files = join(this.clean, 'dist', 'release');

  constructor() {
    for (const name of ['.ssh', 'bin', 'source', 'tmp']) mkdirSync(join(this.#folder, name));
    this.#writeProgram('npm', NPM);
    this.#writeProgram('askpass', ASKPASS);
    const env = { ...process.env, SOURCE: this.source };
    execFileSync('sh', ['-euc', COPY], { cwd: repository, env });
  }

  #writeProgram(name: string, text: string): void {
    writeFileSync(join(this.#folder, 'bin', name), text, { mode: 0o755 });
  }

  /** Enters an address for the maintainers, and commits it with all other changes. */
  async commitMaintainer(address: string): Promise<void> {
    const file = join(this.source, 'scripts/package/maintainer.ts');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/(MAINTAINER: string) = .*$/m, `$1 = '${address}';`));
    await this.run('git add --all && git commit --quiet --message Maintainers', this.source);
  }

  /** Runs commands of RELEASING.md, with the paths of this clone. @returns their output */
  async run(commands: string, cwd: string): Promise<string> {
    const script = commands
      .replaceAll('/tmp/', `${this.#folder}/tmp/`)
      .replaceAll('~/', `${this.#folder}/`);
    const env = {
      ...ownVariables(),
      GIT_AUTHOR_NAME: NAME,
      GIT_AUTHOR_EMAIL: EMAIL,
      GIT_COMMITTER_NAME: NAME,
      GIT_COMMITTER_EMAIL: EMAIL,
      PATH: `${this.#folder}/bin:${process.env['PATH'] ?? ''}`,
      SSH_ASKPASS: `${this.#folder}/bin/askpass`,
      SSH_ASKPASS_REQUIRE: 'force',
    };
    const options = { cwd, env, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    return (await run('sh', ['-euc', script], options)).stdout;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
