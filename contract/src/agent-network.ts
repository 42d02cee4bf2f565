import { type Static, Type } from 'typebox';
import { amount, name, object } from './agent-schema.ts';
import { oneOf } from './schema.ts';

const { Optional, Array: List } = Type;

/** A network interface. */
export const AgentInterface = object({
  interface: name('The name of the interface.', 'eth0'),
  kind: oneOf(['physical', 'bond', 'bridge', 'vlan', 'tunnel', 'virtual'], {
    description:
      'Only the traffic of `physical` interfaces without `member_of` is distinct; all others repeat traffic of another interface, so do not sum them up.',
  }),
  member_of: Optional(name('The bond, bridge or other interface that it belongs to.', 'bond0')),
  up: Optional(Type.Boolean({ description: 'Whether the link is up.' })),
  speed_bits_per_second: Optional(amount('The negotiated speed of the link.')),
  receive_bytes_per_second: Optional(amount('Bytes received.')),
  transmit_bytes_per_second: Optional(amount('Bytes sent.')),
  receive_packets_per_second: Optional(amount('Packets received.')),
  transmit_packets_per_second: Optional(amount('Packets sent.')),
  receive_bytes_total: amount('Since the interface was created.'),
  transmit_bytes_total: amount('Since the interface was created.'),
  receive_packets_total: amount('Since the interface was created.'),
  transmit_packets_total: amount('Since the interface was created.'),
  receive_errors_total: amount('Received packets with errors.'),
  transmit_errors_total: amount('Packets that could not be sent because of an error.'),
  receive_drops_total: amount('Received packets that were dropped.'),
  transmit_drops_total: amount('Outgoing packets that were dropped.'),
});
export type AgentInterface = Static<typeof AgentInterface>;

/** The traffic of the machine. */
export const AgentNetwork = object({
  receive_bytes_per_second: Optional(amount('Of the whole machine; each packet is counted once.')),
  transmit_bytes_per_second: Optional(amount('Of the whole machine.')),
  interfaces: List(AgentInterface),
});
export type AgentNetwork = Static<typeof AgentNetwork>;
