import { readFileSync, statSync } from 'node:fs';

import { codeOf, messageOf } from '../errors.ts';
import type { TlsPaths } from '../tls/tls-files.ts';

/** The settings of the configuration file. */
export interface AgentConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly intervalSeconds: number;
  readonly tls: TlsPaths;
  /** The name by which viewers reach the agent; null when it is not set. */
  readonly serverName: string | null;
  readonly refusesInHandshake: boolean;
  readonly tokensFile: string | null;
  readonly allowedOrigins: ReadonlySet<string>;
  /** The socket for `latchkey-agent reload`; null without one. */
  readonly controlSocket: string | null;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** The exit code for an invalid configuration (sysexits.h, EX_CONFIG). */
export const CONFIG_EXIT_CODE = 78;

/** The configuration is invalid. Each problem is a sentence. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const MAX_BYTES = 64 * 1024;

/** Characters that are also valid in a subprotocol name, by which browsers send tokens. */
const TOKEN = /^[\w.~-]{20,200}$/u;

/**
 * Reads access tokens, one per line; empty lines and lines that begin with # are skipped.
 * @throws ConfigError when the file is unreadable or a line is not a token; it never contains a token
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
  throw new ConfigError([`${path} contains no token: write one per line, or remove tokens_file.`]);
}

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('it is larger than 64 KiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${path} cannot be read: ${messageOf(error)}`]);
  }
}

/**
 * Explains why the agent cannot listen on its port, and what to do.
 * @returns a sentence; null for other errors, and for an address that the machine does not have yet
 */
export function explainListenError(error: unknown, { port }: AgentConfig['listen']): string | null {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use by another program: stop it, or change listen.`;
  }
  if (code === 'EACCES') {
    return `This account may not use port ${port}: choose a port from 1024, or grant CAP_NET_BIND_SERVICE.`;
  }
  return null;
}

/** Returns the local address of a server that listens on `host`. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
