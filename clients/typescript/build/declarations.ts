/** Writes the declarations of the package, which refer to no other package. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { ENTRIES } from './bundle.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const source = fileURLToPath(new URL('../src/', import.meta.url));

/** A declaration file of `dist/`. */
export interface Declaration {
  readonly file: string;
  readonly text: string;
}

const IMPORT = /(?<=(?:from |import\()['"])[^'"]+(?=['"])/g;

/**
 * Returns the declarations that the entries reach.
 * @throws Error when one of them refers to another package, whose types a user would lack
 */
export async function createDeclarations(): Promise<Declaration[]> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-declarations-'));
  try {
    await compile(directory);
    const files = new Set(ENTRIES.map((entry) => `${entry}.d.ts`));
    const found: Declaration[] = [];
    for (const file of files) {
      const text = await readFile(join(directory, 'dist', file), 'utf8');
      for (const [name] of text.matchAll(IMPORT)) files.add(resolve(file, name));
      found.push({ file, text: text.replaceAll(IMPORT, (name) => name.replace(/\.ts$/, '.js')) });
    }
    return found;
  } finally {
    await rm(directory, { recursive: true });
  }
}

function resolve(file: string, name: string): string {
  if (!name.startsWith('.')) throw new Error(`src/${file} refers to ${name} in public`);
  return posix.join(posix.dirname(file), name.replace(/\.ts$/, '.d.ts'));
}

async function compile(directory: string): Promise<void> {
  const project = join(directory, 'tsconfig.json');
  const settings = {
    extends: join(repository, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      stripInternal: true,
      rootDir: source,
      outDir: join(directory, 'dist'),
      typeRoots: [join(repository, 'node_modules/@types')],
    },
    files: ENTRIES.map((entry) => join(source, `${entry}.ts`)),
    include: [],
  };
  await writeFile(project, JSON.stringify(settings));
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '--singleThreaded', '--project', project]);
}
