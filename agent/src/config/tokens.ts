import { readFileSync, statSync } from 'node:fs';

import { ConfigError } from './config.ts';

const MAX_BYTES = 64 * 1024;

/** Also what may stand in the name of a subprotocol, by which browsers send it. */
const TOKEN = /^[\w.~-]{20,200}$/u;

/**
 * Reads access tokens, one in each line; empty lines and those that begin with # are passed over.
 * @throws ConfigError when the file cannot be read, or a line is no token; no token is told
 */
export function readTokens(path: string | null): readonly string[] {
  if (path === null) return [];
  const lines = readText(path)
    .split('\n')
    .map((line) => line.trim());
  const tokens: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    if (!TOKEN.test(line)) {
      const must = 'a token has 20 to 200 letters, digits and - . _ ~';
      throw new ConfigError([`${path}:${at + 1}: ${must}`]);
    }
    tokens.push(line);
  }
  if (tokens.length > 0) return tokens;
  throw new ConfigError([
    `${path} holds no token: write one in each line, or take away tokens_file.`,
  ]);
}

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('it is larger than 64 KiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`${path} cannot be read: ${why}`]);
  }
}
