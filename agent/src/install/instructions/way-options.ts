/** What the way to the agent through a web server depends on. */
export interface WayOptions {
  readonly domain: string;
  /** `/latchkey`, as for nginx. */
  readonly proxyPath: string;
  readonly mutualTls: boolean;
  /** Where the agent listens on 127.0.0.1. */
  readonly agentPort: number;
}
