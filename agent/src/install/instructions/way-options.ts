/** What the way to the agent through a web server depends on. */
export interface WayOptions {
  readonly domain: string;
  /** `/latchkey`, as for nginx. */
  readonly proxyPath: string;
  readonly mutualTls: boolean;
}
