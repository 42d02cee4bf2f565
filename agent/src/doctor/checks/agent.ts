import { AGENT_PORT, agentUnit } from '../../install/paths.ts';
import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';

/** Returns the port of the agent's configuration; the default where it is invalid. */
export function findAgentPort({ configuration }: Pick<Inspection, 'configuration'>): number {
  return configuration.kind === 'read' ? configuration.config.listen.port : AGENT_PORT;
}

/** Checks that the configuration is valid: otherwise the agent does not start. */
export function checkConfiguration({ configuration }: Inspection): Finding {
  const { path } = configuration;
  if (configuration.kind === 'read') return ok('configuration', `${path} is valid.`);
  return problem('configuration', {
    symptom: 'The agent does not start, or would not start again.',
    cause: configuration.problems.join(' '),
    fix: `Correct ${path}, then: latchkey-agent validate && systemctl restart ${agentUnit}`,
  });
}

/** Checks that the unit runs, and starts at boot. */
export function checkUnit({ unit }: Inspection): Finding {
  if (unit === null) return skipped('agent_running', 'systemd does not answer on this machine.');
  if (!unit.isLoaded) {
    return problem('agent_running', {
      symptom: 'Connections are refused.',
      cause: `There is no ${agentUnit} on this machine.`,
      fix: 'Install the agent: latchkey-agent install',
    });
  }
  if (unit.activeState !== 'active') {
    return problem('agent_running', {
      symptom: 'Connections are refused; behind a proxy the answer is 502.',
      cause: `${agentUnit} is ${unit.activeState} (${unit.result}).`,
      fix: `See why: journalctl -u ${agentUnit} -n 20, then: systemctl restart ${agentUnit}`,
    });
  }
  if (!unit.isEnabled) {
    return warning('agent_running', {
      symptom: 'After the next boot, connections will be refused.',
      cause: `${agentUnit} is running, but does not start at boot.`,
      fix: `systemctl enable ${agentUnit}`,
    });
  }
  return ok('agent_running', `${agentUnit} is active and starts at boot.`);
}

/** Checks that the agent answers on its own port. */
export function checkAnswer({ agentFault, configuration }: Inspection): Finding {
  if (configuration.kind === 'invalid') {
    return skipped('agent_reachable', 'The address of the agent is unknown.');
  }
  const { host, port } = configuration.config.listen;
  if (agentFault === null) return ok('agent_reachable', `It answers on ${host}:${port}.`);
  return problem('agent_reachable', {
    symptom: 'Connections are refused or time out; behind a proxy the answer is 502.',
    cause: agentFault,
    fix: `Start it: systemctl restart ${agentUnit}, and read: journalctl -u ${agentUnit} -n 20`,
  });
}

/** Checks that viewers are restricted: without certificates and tokens, anyone may watch. */
export function checkViewers({ configuration }: Pick<Inspection, 'configuration'>): Finding {
  if (configuration.kind === 'invalid')
    return skipped('viewers', 'The rules for viewers are unknown.');
  const { tls, tokensFile } = configuration.config;
  if (tls.clients !== null) return ok('viewers', 'Viewers need a client certificate.');
  if (tokensFile !== null) return ok('viewers', 'Viewers need an access token.');
  return warning('viewers', {
    symptom: 'Anyone who reaches the address can watch this machine.',
    cause: `${configuration.path} requires neither client certificates nor access tokens.`,
    fix: 'Require certificates: latchkey-agent install --mtls; or set viewers.tokens_file to a file of access tokens, then: systemctl restart latchkey-agent',
  });
}
