import { createServer } from 'node:net';

import type { Config } from '#server/config/config.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { codeOf } from '#server/lib/unknown-values.ts';
import type { Logger } from '#server/log.ts';
import type { Metrics } from '#server/metrics.ts';

import type { App } from './app-instance.ts';
import { startMetricsListener, type MetricsListener } from './metrics-endpoint.ts';

/** An address to listen on, and its settings. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostSetting: string;
  readonly portSetting: string;
}

/**
 * Checks that the configured ports are free, before slower steps of the start.
 * @throws StartupError for a port that is taken or not allowed
 */
export async function requireFreePorts(config: Config): Promise<void> {
  for (const address of [serviceAddress(config), metricsAddress(config)]) {
    const failure = address && (await tryToListen(address));
    if (failure) throw explainListenFailure(failure, address);
  }
}

/**
 * Listens on the service's address, and returns its URL.
 * @throws StartupError when that is not possible
 */
export async function listen(app: App, config: Config): Promise<string> {
  const address = serviceAddress(config);
  try {
    return await app.listen({ host: address.host, port: address.port });
  } catch (error) {
    throw explainListenFailure(error, address);
  }
}

/**
 * Serves the metrics on a port of their own; returns null when none is configured.
 * @throws StartupError when that is not possible
 */
export async function listenForMetrics(
  config: Config,
  metrics: Pick<Metrics, 'render'>,
  log: Logger,
): Promise<MetricsListener | null> {
  const address = metricsAddress(config);
  if (address === null) return null;
  try {
    const listener = await startMetricsListener(metrics, address, log);
    const fields = { event: 'metrics.listening', host: address.host, port: listener.port };
    log.info(fields, 'metrics listening');
    return listener;
  } catch (error) {
    throw explainListenFailure(error, address);
  }
}

function serviceAddress({ http: { host, port } }: Config): ListenAddress {
  return { host, port, hostSetting: 'LATCHKEY_HOST', portSetting: 'LATCHKEY_PORT' };
}

function metricsAddress({ metrics: { host, port } }: Config): ListenAddress | null {
  if (port === null) return null;
  const settings = { hostSetting: 'LATCHKEY_METRICS_HOST', portSetting: 'LATCHKEY_METRICS_PORT' };
  return { host, port, ...settings };
}

/** Listens briefly; returns the reason of a failure, or null. */
export function tryToListen({
  host,
  port,
}: Pick<ListenAddress, 'host' | 'port'>): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', resolve);
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
}

/** Returns the problem of a failed `listen` for the person who started the service; an unexpected error unchanged. */
function explainListenFailure(error: unknown, address: ListenAddress): unknown {
  const problem = findProblem(codeOf(error) ?? '', address);
  return problem === null ? error : new StartupError([problem], { cause: error });
}

function findProblem(code: string, address: ListenAddress): string | null {
  const { host, port, hostSetting, portSetting } = address;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program: stop it, or set ${portSetting} to a free one.`;
    case 'EACCES':
      return `Port ${port} on ${host} needs more rights than this account has: set ${portSetting} to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting} is ${host}, which is not an address of this machine: set one of its addresses, such as 127.0.0.1.`;
    default:
      return null;
  }
}
