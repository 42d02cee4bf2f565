import { type Static, Type } from 'typebox';
import { amount, name, object } from './agent-schema.ts';
import { dateTime, oneOf } from './schema.ts';

const { Optional } = Type;

/** Facts about a machine that do not change while the agent runs. */
export const AgentHost = object(
  {
    hostname: name('The host name.', 'db-1'),
    os_name: Optional(name('The name of the distribution.', 'Debian GNU/Linux 12 (bookworm)')),
    os_id: Optional(name('The id of the distribution.', 'debian')),
    os_version: Optional(name('The version of the distribution.', '12')),
    kernel_version: Optional(name('The kernel release, as in uname.', '6.1.0-18-amd64')),
    architecture: name('The processor architecture of the agent.', 'x64'),
    cpu_model: Optional(name('The model name of the vendor.')),
    cpu_logical_count: Optional(Type.Integer({ minimum: 1 })),
    cpu_physical_count: Optional(
      Type.Integer({ minimum: 1, description: 'Physical cores, without hardware threads.' }),
    ),
    memory_total_bytes: Optional(amount('Memory that the kernel manages.')),
    boot_time: Optional(dateTime()),
    machine_type: oneOf(['physical', 'virtual', 'container']),
    machine_model: Optional(
      name('The model name of the vendor.', 'Raspberry Pi 5 Model B Rev 1.0'),
    ),
  },
  'AgentHost',
);
export type AgentHost = Static<typeof AgentHost>;
