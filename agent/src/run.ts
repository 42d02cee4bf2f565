import { randomBytes } from 'node:crypto';

import type { Clock } from './clock.ts';
import { readHost } from './collect/host.ts';
import { readMachineId } from './collect/machine-id.ts';
import { openCollectors } from './collectors.ts';
import { type AgentConfig, readTokens } from './config/config.ts';
import { messageOf } from './errors.ts';
import type { Log } from './log.ts';
import { MountProber } from './probe/mount-prober.ts';
import { BackgroundReader } from './read/background-reader.ts';
import type { Roots } from './roots.ts';
import { openSampler, type Sampler } from './sample.ts';
import { openControl } from './service/control-server.ts';
import { openAccessTokens } from './stream/admission.ts';
import { AddressReports, isLoopback } from './stream/limits.ts';
import { HISTORY_PARTS } from './stream/history.ts';
import { Hub } from './stream/hub.ts';
import { StreamServer } from './stream/server.ts';
import { listTlsFiles, readTlsMaterial, watchFiles } from './tls/tls-files.ts';

/** Proxies close connections that are silent for a minute, many sooner. */
const PING_INTERVAL_MS = 25_000;

/** Enough random bytes that a viewer cannot guess them. */
const PING_BYTES = 8;

/** Dependencies of the agent. */
interface AgentOptions {
  readonly config: AgentConfig;
  readonly roots: Roots;
  readonly clock: Clock;
  readonly log: Log;
  /** Reads the allowed origins again at a reload. @throws ConfigError */
  readonly readAllowedOrigins: () => Promise<ReadonlySet<string>>;
  /** Called after each tick with the number of viewers. */
  readonly onTick?: (viewers: number) => void;
}

/** A running agent. */
export interface RunningAgent {
  /**
   * Reloads certificates, revocation lists, tokens and allowed origins. When one cannot be read, the old ones stay in use, and the
   * problem is logged.
   * @returns the problem as a sentence; null on success
   */
  reload(): Promise<string | null>;
  /** Stops within two seconds. */
  close(): Promise<void>;
  /** Whether a thread is blocked in the kernel, so that the process cannot exit normally. */
  isStuck(): boolean;
}

/**
 * Opens the port and starts collecting.
 * @throws TlsFileError, ConfigError, or the error of the port
 */
export async function runAgent(options: AgentOptions): Promise<RunningAgent> {
  const { config, roots, clock, log, onTick } = options;
  const { intervalSeconds, controlSocket } = config;
  // Disposes opened resources in reverse order, also when a later one fails to open.
  await using opened = new AsyncDisposableStack();
  const { sampler, isStuck } = openSampling(options, opened);
  const machineId = readMachineId(roots);
  const hub = new Hub({
    sampler,
    readHost: () => readHost(roots),
    clock,
    intervalSeconds,
    machineId,
  });
  const { server, reload, reloadFiles } = openServer(options, hub);
  await server.listen(config.listen.host, config.listen.port);
  opened.defer(() => server.close());
  if (controlSocket !== null) {
    opened.use(await openControl({ path: controlSocket, reload, log }));
  }
  const files = [...listTlsFiles(config.tls), config.tokensFile].filter((path) => path !== null);
  opened.use(watchFiles(files, reloadFiles));
  // A baseline for the rates of the first tick.
  sampler.sample(HISTORY_PARTS);
  repeat(opened, 1000 * intervalSeconds, () => {
    hub.tick();
    onTick?.(hub.viewers.size);
  });
  repeat(opened, PING_INTERVAL_MS, () => {
    server.checkViewers();
    hub.ping(randomBytes(PING_BYTES));
  });
  const kept = opened.move();
  return { reload, isStuck, close: () => kept.disposeAsync() };
}

/** Opens the collectors, and the readers of files and mounts that may hang. */
function openSampling(
  { config, roots, clock, log }: AgentOptions,
  opened: AsyncDisposableStack,
): { readonly sampler: Sampler; readonly isStuck: () => boolean } {
  const reader = opened.adopt(new BackgroundReader(clock.monotonicMs), (it) => it.close());
  const prober = opened.adopt(new MountProber(clock.monotonicMs), (it) => it.close());
  const collectors = openCollectors(roots, { prober, reader }, 1000 * config.intervalSeconds);
  const sampler = opened.adopt(openSampler(collectors, clock, log), (it) => it.close());
  return { sampler, isStuck: () => prober.isStuck() || reader.isStuck() };
}

/** Creates the stream server and its reload functions. */
function openServer({ config, clock, log, readAllowedOrigins }: AgentOptions, hub: Hub) {
  let { allowedOrigins } = config;
  let isToken = openAccessTokens(readTokens(config.tokensFile));
  const server = new StreamServer({
    ...config,
    hub,
    clock,
    tls: readTlsMaterial(config.tls),
    isBehindProxy: isLoopback(config.listen.host),
    reports: new AddressReports(clock, log),
    readRules: () => ({ isToken, allowedOrigins }),
  });

  function reloadFiles(): string | null {
    try {
      const tokens = openAccessTokens(readTokens(config.tokensFile));
      const tls = readTlsMaterial(config.tls);
      // Viewers are checked against both, so both are replaced.
      isToken = tokens;
      server.setTls(tls);
      return null;
    } catch (error) {
      const why = messageOf(error);
      log.warn('agent.reload_failed', 'could not reload files; the previous ones stay in use', {
        error: why,
      });
      return `The files could not be reloaded, and the previous ones stay in use: ${why}`;
    }
  }

  /** Reloads the files also when the configuration has a mistake, because certificates expire. */
  async function reload(): Promise<string | null> {
    const originsProblem = await reloadOrigins();
    return reloadFiles() ?? originsProblem;
  }

  async function reloadOrigins(): Promise<string | null> {
    try {
      allowedOrigins = await readAllowedOrigins();
      return null;
    } catch (error) {
      const why = messageOf(error);
      log.warn(
        'agent.reload_failed',
        'could not reload allowed_origins; the old ones stay in use',
        {
          error: why,
        },
      );
      return `allowed_origins could not be reloaded, and the previous ones stay in use: ${why}`;
    }
  }

  return { server, reload, reloadFiles };
}

function repeat(opened: AsyncDisposableStack, everyMs: number, work: () => void): void {
  opened.adopt(setInterval(work, everyMs), clearInterval);
}
