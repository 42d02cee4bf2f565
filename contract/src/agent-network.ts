import { type Static, Type } from 'typebox';
import { amount, name, object } from './agent-schema.ts';
import { oneOf } from './schema.ts';

const { Optional, Array: List } = Type;

/** A network interface. */
export const AgentInterface = object({
  interface: name('Its name.', 'eth0'),
  kind: oneOf(['physical', 'bond', 'bridge', 'vlan', 'tunnel', 'virtual'], {
    description:
      'All but `physical` carry what others carry too, and so does a `physical` member of another: never add them up.',
  }),
  member_of: Optional(name('The bond, bridge or other interface that it belongs to.', 'bond0')),
  up: Optional(Type.Boolean({ description: 'Whether it can carry traffic.' })),
  speed_bits_per_second: Optional(amount('What the link was negotiated for.')),
  receive_bytes_per_second: Optional(amount('Received.')),
  transmit_bytes_per_second: Optional(amount('Sent.')),
  receive_packets_per_second: Optional(amount('Packets received.')),
  transmit_packets_per_second: Optional(amount('Packets sent.')),
  receive_bytes_total: amount('Since it was made.'),
  transmit_bytes_total: amount('Since it was made.'),
  receive_packets_total: amount('Since it was made.'),
  transmit_packets_total: amount('Since it was made.'),
  receive_errors_total: amount('Broken packets.'),
  transmit_errors_total: amount('Packets that could not be sent.'),
  receive_drops_total: amount('Packets that nobody took.'),
  transmit_drops_total: amount('Packets given up before they were sent.'),
});
export type AgentInterface = Static<typeof AgentInterface>;

/** The traffic of the machine. */
export const AgentNetwork = object({
  receive_bytes_per_second: Optional(amount('Of the whole machine: each packet counted once.')),
  transmit_bytes_per_second: Optional(amount('Of the whole machine.')),
  interfaces: List(AgentInterface),
});
export type AgentNetwork = Static<typeof AgentNetwork>;
