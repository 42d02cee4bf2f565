import type { TlsPaths } from '../tls/tls-files.ts';

/** What the configuration file says. */
export interface AgentConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly intervalSeconds: number;
  readonly tls: TlsPaths;
  /** The name by which viewers reach the agent; null when it is not said. */
  readonly serverName: string | null;
  readonly refusesInHandshake: boolean;
  readonly tokensFile: string | null;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Where `latchkey-agent reload` finds the agent; null when it is not to be found. */
  readonly controlSocket: string | null;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** The exit code of a wrong configuration (sysexits.h, EX_CONFIG). */
export const CONFIG_EXIT_CODE = 78;

/** The configuration cannot be used: every problem is a sentence. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
