import tls from 'node:tls';

/** How the `fetch` of this Node.js reaches the service. */
export interface NetworkSettings {
  /** `system`: the certificates that the system trusts count, too, such as those of a company's proxy. */
  readonly certificates: 'system' | 'bundled';
  /** `ignored`: a proxy is set in the environment, and this process does not use it: start it with NODE_USE_ENV_PROXY=1. */
  readonly proxy: 'none' | 'used' | 'ignored';
}

/**
 * Lets this process trust the certificates that the system trusts (Node.js 22.19 or 24.5), for all of its connections, and
 * returns whether it uses the proxy of the environment.
 */
export function useSystemCertificates(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): NetworkSettings {
  return { certificates: trustSystem() ? 'system' : 'bundled', proxy: findProxy(environment) };
}

function trustSystem(): boolean {
  try {
    if (!('setDefaultCACertificates' in tls)) return false;
    const trusted = [...tls.getCACertificates('default'), ...tls.getCACertificates('system')];
    tls.setDefaultCACertificates([...new Set(trusted)]);
    return true;
  } catch {
    // The store of the system cannot be read.
    return false;
  }
}

function findProxy(
  environment: Readonly<Record<string, string | undefined>>,
): NetworkSettings['proxy'] {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
  if (names.every((name) => (environment[name] ?? '') === '')) return 'none';
  return environment['NODE_USE_ENV_PROXY'] === '1' ? 'used' : 'ignored';
}
