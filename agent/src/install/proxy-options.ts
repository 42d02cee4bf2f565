/** What the configuration of any web server in front of the agent depends on. */
export interface RouteOptions {
  readonly domain: string;
  /** `/latchkey`: letters, digits, `.`, `_`, `~` and `-` between slashes, none at the end. */
  readonly proxyPath: string;
  readonly mutualTls: boolean;
  /** The agent's port on 127.0.0.1. */
  readonly agentPort: number;
}

/** Options of the route through nginx. */
export interface ProxyOptions extends RouteOptions {
  /** The agent's limit of viewers per address. */
  readonly viewersPerAddress: number;
  /** nginx's version: `1.22.1`. */
  readonly version: string;
  readonly hasIpv6: boolean;
  /** Whether a certificate will be issued by http-01 through this nginx, if the domain has no TLS yet. */
  readonly needsChallenge: boolean;
  /** The chain and key that a server block of the agent presents. */
  readonly certificate: string;
  readonly certificateKey: string;
}
