import type { Clock } from './clock.ts';
import { readHost } from './collect/host.ts';
import { openCollectors } from './collectors.ts';
import type { AgentConfig } from './config/config.ts';
import { readTokens } from './config/tokens.ts';
import type { Log } from './log.ts';
import { MountProber } from './probe/mount-prober.ts';
import { BackgroundReader } from './read/background-reader.ts';
import type { Roots } from './roots.ts';
import { openSampler } from './sample.ts';
import { openControl } from './service/control-server.ts';
import { openAccessTokens } from './stream/access-tokens.ts';
import { AddressReports } from './stream/address-reports.ts';
import { Hub } from './stream/hub.ts';
import { StreamServer } from './stream/server.ts';
import { listTlsFiles, readTlsMaterial } from './tls/tls-files.ts';
import { watchFiles } from './tls/watch-files.ts';
import { tidyMemory } from './tidy-memory.ts';

/** Proxies end connections that say nothing for a minute, many of them sooner. */
const PING_INTERVAL_MS = 25_000;

const TIDY_INTERVAL_MS = 60_000;

/** What the agent is made of. */
export interface AgentOptions {
  readonly config: AgentConfig;
  readonly roots: Roots;
  readonly clock: Clock;
  readonly log: Log;
  /** Told after each tick how many watch. */
  readonly onTick?: (viewers: number) => void;
}

/** An agent at work. */
export interface RunningAgent {
  /**
   * Reads certificates, lists and tokens again. What cannot be read leaves all as it was, and is logged.
   * @returns why they were not taken, as a sentence; null when they were
   */
  reload(): string | null;
  /** Ends within two seconds. */
  close(): Promise<void>;
  /** Whether a thread hangs in the kernel, so that the process would not end by itself. */
  isStuck(): boolean;
}

/**
 * Opens the port and begins to collect.
 * @throws TlsFileError, ConfigError, or the error of the port
 */
export async function runAgent(options: AgentOptions): Promise<RunningAgent> {
  const { config, roots, clock, log, onTick } = options;
  let isToken = openAccessTokens(readTokens(config.tokensFile));
  const tls = readTlsMaterial(config.tls);
  const prober = new MountProber(clock.monotonicMs);
  const reader = new BackgroundReader(clock.monotonicMs);
  const { intervalSeconds, allowedOrigins } = config;
  const collectors = openCollectors(roots, { prober, reader }, intervalSeconds * 1000);
  const sampler = openSampler(collectors, clock, log);
  const hub = new Hub({ sampler, host: readHost(roots), clock, intervalSeconds });
  const server = new StreamServer({
    ...config,
    hub,
    clock,
    tls,
    reports: new AddressReports(clock, log),
    readRules: () => ({ isToken, allowedOrigins }),
  });

  function reload(): string | null {
    try {
      const tokens = openAccessTokens(readTokens(config.tokensFile));
      server.setTls(readTlsMaterial(config.tls));
      isToken = tokens;
      return null;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const problem = `The files were not taken, and those of before stay in use: ${why}`;
      log.warn(problem);
      return problem;
    }
  }

  try {
    await server.listen(config.listen.host, config.listen.port);
  } catch (error) {
    prober.close();
    reader.close();
    throw error;
  }
  const files = [...listTlsFiles(config.tls), config.tokensFile].filter((path) => path !== null);
  const watching = watchFiles(files, reload);
  const control =
    config.controlSocket === null
      ? null
      : await openControl({ path: config.controlSocket, reload, log });
  const ticks = setInterval(() => {
    hub.tick();
    onTick?.(hub.viewers.size);
  }, intervalSeconds * 1000);
  const pings = setInterval(() => {
    server.checkViewers();
    hub.ping();
  }, PING_INTERVAL_MS);
  const tidying = setInterval(tidyMemory, TIDY_INTERVAL_MS);
  return {
    reload,
    isStuck: () => prober.isStuck() || reader.isStuck(),
    async close() {
      clearInterval(ticks);
      clearInterval(pings);
      clearInterval(tidying);
      watching[Symbol.dispose]();
      control?.[Symbol.dispose]();
      await server.close();
      sampler.close();
      prober.close();
      reader.close();
    },
  };
}
