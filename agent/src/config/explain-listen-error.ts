import type { AgentConfig } from './config.ts';

/**
 * Says why the agent will never listen on a port as it is configured, and what to do.
 * @returns a sentence; null for other errors, and for an address that the machine has not, which may come later
 */
export function explainListenError(error: unknown, { port }: AgentConfig['listen']): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use by another program: stop it, or change listen.`;
  }
  if (code === 'EACCES') {
    return `Port ${port} is not for this account: take one from 1024 on, or give it CAP_NET_BIND_SERVICE.`;
  }
  return null;
}
