import { type Static, Type } from 'typebox';
import { amount, name, object } from './agent-schema.ts';
import { dateTime, oneOf } from './schema.ts';

const { Optional } = Type;

/** What a machine is: it does not change while the agent runs. */
export const AgentHost = object(
  {
    hostname: name('Its name.', 'db-1'),
    os_name: Optional(name('The distribution.', 'Debian GNU/Linux 12 (bookworm)')),
    os_id: Optional(name('Its short name.', 'debian')),
    os_version: Optional(name('Its version.', '12')),
    kernel_version: Optional(name('As uname says it.', '6.1.0-18-amd64')),
    architecture: name('What it was built for.', 'x64'),
    cpu_model: Optional(name('As its maker calls it.')),
    cpu_logical_count: Optional(Type.Integer({ minimum: 1 })),
    cpu_physical_count: Optional(
      Type.Integer({ minimum: 1, description: 'Cores without threads.' }),
    ),
    memory_total_bytes: Optional(amount('Memory that the kernel manages.')),
    boot_time: Optional(dateTime()),
    machine_type: oneOf(['physical', 'virtual', 'container']),
    machine_model: Optional(name('As its maker calls it.', 'Raspberry Pi 5 Model B Rev 1.0')),
  },
  'AgentHost',
);
export type AgentHost = Static<typeof AgentHost>;
