import { describeNode } from './read-configuration.ts';
import type { Choice } from './servers.ts';

/** Says in one sentence why it cannot be told which block answers. */
export function describeSeveral(
  choice: Extract<Choice, { kind: 'several' | 'perhaps' }>,
  domain: string,
  port: number,
): string {
  if (choice.kind === 'perhaps') {
    return `Whether a server block answers for ${domain} on port ${port} is up to a regular expression or a variable (${describeNode(choice.server.node)}).`;
  }
  const places = choice.servers.map(({ node }) => describeNode(node)).join('; ');
  return `Several server blocks answer for ${domain} on port ${port} (${places}), of which nginx uses one.`;
}
