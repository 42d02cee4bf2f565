import type { Config } from './config/config.ts';
import type { Context } from './context.ts';
import type { App } from './http/app-instance.ts';
import { explainListenFailure, requireFreePort, type ListenAddress } from './http/listen.ts';
import { startMetricsListener, type MetricsListener } from './http/metrics-endpoint.ts';

/**
 * Makes sure that the configured ports can be had, before anything slower is started.
 * @throws StartupError when one of them is taken or not ours to take
 */
export async function requireFreePorts(config: Config): Promise<void> {
  await requireFreePort(serviceAddress(config));
  const metricsAddress = findMetricsAddress(config);
  if (metricsAddress !== null) await requireFreePort(metricsAddress);
}

/**
 * Has the application listen where the configuration says.
 * @returns its URL
 * @throws StartupError when the port cannot be had
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
 * Serves the metrics on a port of their own, where one is configured.
 * @returns null when none is
 * @throws StartupError when the port cannot be had
 */
export async function listenForMetrics({
  config,
  log,
  metrics,
}: Pick<Context, 'config' | 'log' | 'metrics'>): Promise<MetricsListener | null> {
  const address = findMetricsAddress(config);
  if (address === null) return null;
  try {
    const listener = await startMetricsListener(metrics, address, log);
    log.info(
      { event: 'metrics.listening', host: address.host, port: listener.port },
      'metrics listening',
    );
    return listener;
  } catch (error) {
    throw explainListenFailure(error, address);
  }
}

function serviceAddress({ http: { host, port } }: Config): ListenAddress {
  return { host, port, hostSetting: 'LATCHKEY_HOST', portSetting: 'LATCHKEY_PORT' };
}

function findMetricsAddress({ metrics: { host, port } }: Config): ListenAddress | null {
  if (port === null) return null;
  return {
    host,
    port,
    hostSetting: 'LATCHKEY_METRICS_HOST',
    portSetting: 'LATCHKEY_METRICS_PORT',
  };
}
